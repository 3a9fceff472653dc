//! Bodies for users and their tokens. Hashes are drawn: nobody logs in by them. Must never rename or
//! delete a user, nor change a password, that others made.

use std::rc::Rc;

use super::{Aim, is_own, pick};
use crate::ids::UserId;
use crate::machine::metadata::{Command, Password, ROOT, TOKENS_MAX, USERS_MAX};
use crate::prng::Rng;
use crate::workload::outcome::Outcome;

/// Bytes of a drawn hash or salt.
const SECRET_BYTES: usize = 16;
/// A drawn token is good for 1 to 1,000 of these.
const EXPIRY_STEP_MICROS: u64 = 100_000;

impl Aim<'_> {
    pub(super) fn create_user(&self, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        let is_full = self.known.users.len() >= USERS_MAX;
        let name = match at {
            Outcome::Success if !is_full => self.fresh.as_str(),
            Outcome::UsersFull if is_full => self.fresh.as_str(),
            Outcome::NameTaken => pick(&self.user_names(None), rng)?,
            _ => return None,
        };
        let (hash, salt) = (draw_secret(rng), draw_secret(rng));
        let command = Command::CreateUser {
            name,
            password: Password {
                hash: &hash,
                salt: &salt,
            },
            permissions: draw_permissions(rng),
        };
        Some(command.encode())
    }

    pub(super) fn update_user(&self, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        let user = self.own_user_for(at, rng)?;
        let name = match at {
            Outcome::NameTaken => pick(&self.user_names(Some(user)), rng)?,
            _ => self.fresh.as_str(),
        };
        let command = Command::UpdateUser {
            user,
            name,
            permissions: draw_permissions(rng),
        };
        Some(command.encode())
    }

    pub(super) fn change_password(&self, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        let user = self.own_user_for(at, rng)?;
        let (mut current, hash, salt) = (
            draw_secret(rng).to_vec(),
            draw_secret(rng),
            draw_secret(rng),
        );
        if at == Outcome::Success {
            let row = self.known.users.iter().find(|row| row.id == user)?;
            current.clone_from(&row.hash);
        }
        let command = Command::ChangePassword {
            user,
            current_hash: &current,
            password: Password {
                hash: &hash,
                salt: &salt,
            },
        };
        Some(command.encode())
    }

    pub(super) fn delete_user(&self, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        let user = self.own_user_for(at, rng)?;
        Some(Command::DeleteUser { user }.encode())
    }

    pub(super) fn create_token(&self, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        let tokens = &self.known.tokens;
        let is_full = tokens.len() >= TOKENS_MAX;
        let there: Vec<_> = tokens
            .iter()
            .map(|row| (row.of, &row.name, &row.hash))
            .collect();
        let user = match at {
            Outcome::UserNotFound => self.missing_user(rng),
            _ => pick(&self.users(), rng)?,
        };
        let hash = draw_secret(rng);
        let (user, name, hash) = match at {
            Outcome::Success if is_full => return None,
            Outcome::TokensFull if !is_full => return None,
            Outcome::NameTaken => {
                let (of, name, _) = pick(&there, rng)?;
                (of, name.as_str(), &hash[..])
            }
            Outcome::TokenTaken => {
                let (_, _, taken) = pick(&there, rng)?;
                (user, self.fresh.as_str(), taken.as_slice())
            }
            _ => (user, self.fresh.as_str(), &hash[..]),
        };
        let command = Command::CreateToken {
            user,
            name,
            hash,
            expiry_micros: self.draw_expiry(at, rng),
        };
        Some(command.encode())
    }

    pub(super) fn delete_token(&self, at: Outcome, rng: &mut Rng) -> Option<Rc<[u8]>> {
        let own = self.known.tokens.iter().filter(|row| is_own(&row.name));
        let own: Vec<_> = own.map(|row| (row.of, row.name.as_str())).collect();
        let (user, name) = match at {
            Outcome::UserNotFound => (self.missing_user(rng), self.fresh.as_str()),
            Outcome::TokenNotFound => (pick(&self.users(), rng)?, self.fresh.as_str()),
            _ => pick(&own, rng)?,
        };
        Some(Command::DeleteToken { user, name }.encode())
    }

    /// A user of the workload's, or root, or nobody, as wanted.
    fn own_user_for(&self, at: Outcome, rng: &mut Rng) -> Option<UserId> {
        match at {
            Outcome::UserNotFound => Some(self.missing_user(rng)),
            Outcome::RootProtected => Some(ROOT),
            _ => pick(&self.own_users(), rng),
        }
    }

    fn user_names(&self, but: Option<UserId>) -> Vec<&str> {
        let rows = self.known.users.iter();
        rows.filter(|row| Some(row.id) != but)
            .map(|row| row.name.as_str())
            .collect()
    }

    /// None, or a time to come; one long past where that is wanted.
    fn draw_expiry(&self, at: Outcome, rng: &mut Rng) -> Option<u64> {
        if at == Outcome::Expired {
            return Some(1);
        }
        let steps = u64::from(rng.between(0, 1_000));
        let now = self.known.now_micros;
        (steps > 0 && now > 0).then(|| now.saturating_add(steps * EXPIRY_STEP_MICROS))
    }
}

fn draw_secret(rng: &mut Rng) -> [u8; SECRET_BYTES] {
    let mut secret = [0; SECRET_BYTES];
    for chunk in secret.chunks_mut(8) {
        let word = rng.next_u64().to_le_bytes();
        chunk.copy_from_slice(&word[..chunk.len()]);
    }
    secret
}

fn draw_permissions(rng: &mut Rng) -> u8 {
    u8::try_from(rng.below(256)).unwrap_or(0)
}
