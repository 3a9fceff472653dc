//! Where things lie, in the repo and in the user's cache folder, and which tool versions the project pins.
//!
//! It reads files and the environment. It must never run a program or write anything.

use crate::failure::Failure;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The Trunk release that `Trunk.toml` is written for.
pub(crate) const TRUNK_VERSION: &str = "0.21.14";

/// The target that the page's crate is built for.
pub(crate) const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// The checked-out repo.
#[derive(Debug, Clone)]
pub(crate) struct Project {
    root: PathBuf,
}

impl Project {
    /// The repo that this tool was built in: cargo names the manifest's folder when it runs a program.
    pub(crate) fn locate() -> Result<Self, Failure> {
        let manifest_dir = env::var_os("CARGO_MANIFEST_DIR")
            .ok_or_else(|| Failure::work("run this tool through cargo: `cargo xtask COMMAND`"))?;
        let root = Path::new(&manifest_dir)
            .parent()
            .ok_or_else(|| Failure::work("the folder of the crate xtask has no parent"))?;
        Ok(Self {
            root: root.to_path_buf(),
        })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn web(&self) -> PathBuf {
        self.root.join("web")
    }

    pub(crate) fn dist(&self) -> PathBuf {
        self.root.join("dist")
    }

    /// Cargo's build folder, for what this tool itself leaves there.
    pub(crate) fn scratch(&self) -> PathBuf {
        let target = env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| self.root.join("target"), |dir| self.root.join(dir));
        target.join("xtask")
    }

    /// wasm-bindgen's tool and crate must be of the very same version, so the lock file decides both.
    pub(crate) fn wasm_bindgen_version(&self) -> Result<String, Failure> {
        let path = self.root.join("Cargo.lock");
        let lock = fs::read_to_string(&path)
            .map_err(|error| Failure::work(format!("cannot read Cargo.lock: {error}")))?;
        locked_version(&lock, "wasm-bindgen").ok_or_else(|| {
            Failure::work("Cargo.lock names no wasm-bindgen: does sim-wasm still depend on it?")
        })
    }
}

/// The folder for tools that are built once for a user, whatever the checkout.
pub(crate) fn tools_cache() -> Result<PathBuf, Failure> {
    let set = |name: &str| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let base = set("XDG_CACHE_HOME")
        .filter(|path| path.is_absolute())
        .or_else(|| set("HOME").map(|home| home.join(".cache")))
        .or_else(|| set("LOCALAPPDATA"))
        .ok_or_else(|| Failure::work("no folder for tools: set HOME or XDG_CACHE_HOME"))?;
    Ok(base.join("vsr-playground").join("tools"))
}

fn locked_version(lock: &str, package: &str) -> Option<String> {
    let wanted = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| line.trim() != wanted);
    lines.next()?;
    let version = lines.next()?.trim().strip_prefix("version = \"")?;
    Some(version.strip_suffix('"')?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::locked_version;

    const LOCK: &str = "[[package]]\nname = \"wasm-bindgen-macro\"\nversion = \"9.9.9\"\n\n\
                        [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\nsource = \"x\"\n";

    #[test]
    fn locked_version_is_that_of_the_very_package() {
        assert_eq!(
            locked_version(LOCK, "wasm-bindgen").as_deref(),
            Some("0.2.130")
        );
    }

    #[test]
    fn locked_version_of_a_missing_package_is_none() {
        assert_eq!(locked_version(LOCK, "wasm"), None);
    }
}
