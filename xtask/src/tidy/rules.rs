//! The rules. Each is a function from a file's path and text to findings, so that a test can hand it any text.
//!
//! A rule must never read a file or know of another rule.

use super::Finding;
use super::imports::{
    RUST_QUOTES, Reference, SCRIPT_QUOTES, lines_with_word, rust_paths, script_imports,
    without_comments,
};

const LINES_MAX: usize = 600;
const BYTES_MAX: usize = 300 * 1024;
/// What the protocol core may use beside itself.
const LEAVES: [&str; 4] = ["ids", "prng", "digest", "error"];
const WORLD: [&str; 7] = ["env", "fs", "io", "net", "process", "thread", "time"];
const PRINTS: [&str; 5] = ["println!", "eprintln!", "print!", "eprint!", "dbg!"];

/// A file's text and its path from the repo's root, with forward slashes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
}

impl Source<'_> {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    fn is_script(&self) -> bool {
        self.path.ends_with(".js") || self.path.ends_with(".mjs")
    }

    /// A module of the page, as opposed to the tools and tests beside it.
    fn is_page_module(&self) -> bool {
        self.path.starts_with("web/") && self.path.ends_with(".js")
    }

    /// The text without its comments.
    fn code(&self) -> String {
        without_comments(
            self.text,
            if self.is_rust() {
                RUST_QUOTES
            } else {
                SCRIPT_QUOTES
            },
        )
    }

    fn finding(
        &self,
        line: usize,
        rule: &'static str,
        detail: impl Into<String>,
        reason: &'static str,
    ) -> Finding {
        Finding {
            path: self.path.to_owned(),
            line,
            rule,
            detail: detail.into(),
            reason,
        }
    }
}

/// Every rule that reads the text.
pub(super) fn check_text(source: &Source<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if source.is_rust() || source.is_script() || source.path.ends_with(".css") {
        findings.extend(opens_with_comment(source));
        findings.extend(is_short(source));
        findings.extend(leaves_nothing_to_do(source));
    }
    if source.is_rust() {
        findings.extend(core_imports_leaves(source));
        findings.extend(oracle_sees_no_simulator(source));
        findings.extend(engine_knows_no_world(source));
    }
    if source.is_script() {
        findings.extend(leaves_no_test_out(source));
    }
    if source.is_page_module() {
        findings.extend(page_layers_hold(source));
        findings.extend(one_module_loads_wasm(source));
    }
    if source.path.ends_with("package-lock.json") {
        findings.extend(lock_names_no_host(source));
    }
    findings
}

pub(super) fn check_size(path: &str, bytes: usize) -> Option<Finding> {
    (bytes > BYTES_MAX).then(|| Finding {
        path: path.to_owned(),
        line: 0,
        rule: "small files",
        detail: format!(
            "{} KiB, more than {}",
            bytes.div_ceil(1024),
            BYTES_MAX / 1024
        ),
        reason: "every clone carries it for ever: make it in the build, or take it from a package",
    })
}

fn opens_with_comment(source: &Source<'_>) -> Option<Finding> {
    let mut text = source.text;
    if text.starts_with("#!/") {
        text = text.split_once('\n').map_or("", |(_, rest)| rest);
    }
    let openings: &[&str] = if source.is_rust() {
        &["//! "]
    } else {
        &["/**", "/* ", "// "]
    };
    let is_open = openings.iter().any(|opening| text.starts_with(opening));
    (!is_open).then(|| {
        source.finding(
            1,
            "module comment",
            "the file opens without one",
            "a reader learns first what a module is for and what it must never know",
        )
    })
}

fn is_short(source: &Source<'_>) -> Option<Finding> {
    let lines = source.text.lines().count();
    (lines > LINES_MAX).then(|| {
        source.finding(
            0,
            "short files",
            format!("{lines} lines, more than {LINES_MAX}"),
            "one file is one idea: split it where its parts have names",
        )
    })
}

fn leaves_nothing_to_do(source: &Source<'_>) -> Vec<Finding> {
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("to", "do!"),
        concat!("unimpl", "emented!"),
    ];
    let lines = marks.iter().flat_map(|mark| {
        lines_with_word(source.text, mark)
            .into_iter()
            .map(move |line| (line, mark))
    });
    lines
        .map(|(line, mark)| {
            let reason = "what is not done belongs in an issue, where it is seen";
            source.finding(line, "nothing left to do", format!("`{mark}`"), reason)
        })
        .collect()
}

/// `engine/src/vsr` uses leaves and itself.
fn core_imports_leaves(source: &Source<'_>) -> Vec<Finding> {
    let Some(below) = source.path.strip_prefix("engine/src/vsr/") else {
        return Vec::new();
    };
    let code = source.code();
    let is_allowed = |path: &str| {
        let module = path.split("::").nth(1).unwrap_or_default();
        module == "vsr" || LEAVES.contains(&module)
    };
    let mut findings = Vec::new();
    let reason = "the protocol core is pure: (state, input) -> effects, tested without a world";
    for Reference { line, path } in rust_paths(&code, "crate::") {
        if !is_allowed(&path) {
            let detail = format!(
                "vsr uses `{path}`; it may use {} and itself",
                LEAVES.join(", ")
            );
            findings.push(source.finding(line, "pure core", detail, reason));
        }
    }
    // `mod.rs` is the module vsr itself; any other file lies one module deeper for each folder.
    let depth = below.split('/').count() + usize::from(!below.ends_with("mod.rs"));
    let escape = "super::".repeat(depth);
    for line in lines_with_word(&code, &escape) {
        let detail = format!("`{escape}` leaves vsr; name leaves as `crate::...`");
        findings.push(source.finding(line, "pure core", detail, reason));
    }
    findings
}

fn oracle_sees_no_simulator(source: &Source<'_>) -> Vec<Finding> {
    if !source.path.starts_with("engine/src/oracle/") {
        return Vec::new();
    }
    let code = source.code();
    let words = ["Simulator", "simulator"];
    let lines = words.iter().flat_map(|word| lines_with_word(&code, word));
    lines
        .map(|line| {
            let reason =
                "an oracle sees a read-only view: it must not be able to change what it judges";
            source.finding(line, "oracles only look", "the simulator is named", reason)
        })
        .collect()
}

/// Nothing in the engine reaches for the machine that it runs on.
fn engine_knows_no_world(source: &Source<'_>) -> Vec<Finding> {
    if !source.path.starts_with("engine/src/") {
        return Vec::new();
    }
    let code = source.code();
    let reason = "a Run gives the same hash natively, under Node and in any browser only if the engine sees nothing else";
    let mut findings = Vec::new();
    for Reference { line, path } in rust_paths(&code, "std::") {
        if path
            .split("::")
            .nth(1)
            .is_some_and(|module| WORLD.contains(&module))
        {
            findings.push(source.finding(line, "no world in engine", format!("`{path}`"), reason));
        }
    }
    for print in PRINTS {
        for line in lines_with_word(&code, print) {
            findings.push(source.finding(line, "no world in engine", format!("`{print}`"), reason));
        }
    }
    findings
}

fn leaves_no_test_out(source: &Source<'_>) -> Vec<Finding> {
    let marks = [
        concat!(".on", "ly("),
        concat!("test.sk", "ip"),
        concat!("it.sk", "ip"),
        concat!("describe.sk", "ip"),
    ];
    let code = source.code();
    let lines = marks.iter().flat_map(|mark| {
        lines_with_word(&code, mark)
            .into_iter()
            .map(move |line| (line, mark))
    });
    lines
        .map(|(line, mark)| {
            let reason = "a test that does not run proves nothing and looks as if it did";
            source.finding(line, "every test runs", format!("`{mark}`"), reason)
        })
        .collect()
}

/// The layers of the page, from the one that knows least. A layer imports its own and the ones named with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    /// `web/sim.js` and `web/sim/`: the simulator client.
    Simulator,
    /// `web/state.js` and `web/state/`.
    State,
    /// `web/views/`.
    View,
    /// Anything else: helpers without a layer, and the ways in (`app.js`, `embed.js`), which wire all together.
    Other,
}

fn layer(path: &str) -> Layer {
    let below = path.strip_prefix("web/").unwrap_or(path);
    match below.split('/').next() {
        Some("sim.js" | "sim") => Layer::Simulator,
        Some("state.js" | "state") => Layer::State,
        Some("views" | "views.js") => Layer::View,
        _ => Layer::Other,
    }
}

fn page_layers_hold(source: &Source<'_>) -> Vec<Finding> {
    let own = layer(source.path);
    let code = source.code();
    let mut findings = Vec::new();
    for Reference { line, path } in script_imports(&code) {
        let Some(target) = resolved(source.path, &path) else {
            continue;
        };
        let other = layer(&target);
        let is_upwards = match own {
            Layer::Simulator => matches!(other, Layer::State | Layer::View),
            Layer::State => other == Layer::View,
            Layer::View => other == Layer::Simulator,
            Layer::Other => false,
        };
        let is_way_in = matches!(target.as_str(), "web/app.js" | "web/embed.js");
        if is_upwards || is_way_in {
            let reason = "views import state, state imports the simulator client, and only the way in wires them";
            findings.push(source.finding(line, "page layers", format!("imports {target}"), reason));
        }
    }
    findings
}

fn one_module_loads_wasm(source: &Source<'_>) -> Vec<Finding> {
    if source.path == "web/sim.js" {
        return Vec::new();
    }
    let code = source.code();
    ["sim-wasm", "sim_wasm"]
        .iter()
        .flat_map(|word| lines_with_word(&code, word))
        .map(|line| {
            let reason =
                "web/sim.js alone loads wasm, so that there is one place that knows the boundary";
            source.finding(line, "one door to wasm", "names the wasm module", reason)
        })
        .collect()
}

fn lock_names_no_host(source: &Source<'_>) -> Option<Finding> {
    let line = *lines_with_word(source.text, "\"resolved\":").first()?;
    let reason = "packages are named by digest, from whatever registry the user has; web/.npmrc says so to npm";
    Some(source.finding(
        line,
        "no registry in the lock file",
        "`resolved` names an address",
        reason,
    ))
}

/// A relative import as a path from the repo's root; nothing for a package.
fn resolved(from: &str, import: &str) -> Option<String> {
    if !import.starts_with('.') {
        return None;
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in import
        .split(['?', '#'])
        .next()
        .unwrap_or_default()
        .split('/')
    {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}
