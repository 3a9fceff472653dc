//! Users and their access tokens. Hashes are compared here and never computed: who logs in, and what
//! time it is, is the business of the shell in front. Must never know a password, nor streams.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::answer::{Answer, Refusal, UserView};
use super::command::Password;
use super::{Entry, Metadata, ROOT};
use crate::ids::UserId;

/// Most users.
pub const USERS_MAX: usize = 16;
/// Most tokens of all users.
pub const TOKENS_MAX: usize = 8;

/// A user.
#[derive(Clone, Debug)]
pub struct User {
    pub(super) name: Rc<str>,
    pub(super) password: StoredPassword,
    pub(super) permissions: u8,
    pub(super) tokens: BTreeMap<Rc<str>, Token>,
}

/// What is kept of a password.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredPassword {
    /// The password's hash.
    pub hash: Rc<[u8]>,
    /// What it was salted with.
    pub salt: Rc<[u8]>,
}

/// An access token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The hash of what its holder shows.
    pub hash: Rc<[u8]>,
    /// Virtual time from which it is no longer good; never where there is none.
    pub expiry_micros: Option<u64>,
}

impl Token {
    pub(super) fn new(hash: &[u8], expiry_micros: Option<u64>) -> Self {
        Self {
            hash: Rc::from(hash),
            expiry_micros,
        }
    }

    /// Whether its time has passed.
    #[must_use]
    pub fn is_expired(&self, now_micros: u64) -> bool {
        self.expiry_micros
            .is_some_and(|expiry| expiry <= now_micros)
    }
}

impl From<Password<'_>> for StoredPassword {
    fn from(password: Password<'_>) -> Self {
        Self {
            hash: Rc::from(password.hash),
            salt: Rc::from(password.salt),
        }
    }
}

impl User {
    pub(super) fn root(password: StoredPassword) -> Self {
        Self {
            name: Rc::from("root"),
            password,
            permissions: u8::MAX,
            tokens: BTreeMap::new(),
        }
    }

    /// What is kept of the password.
    #[must_use]
    pub fn password(&self) -> &StoredPassword {
        &self.password
    }

    /// What the user may do, one bit each.
    #[must_use]
    pub fn permissions(&self) -> u8 {
        self.permissions
    }

    pub(super) fn view(&self, user: UserId) -> UserView {
        let tokens = self.tokens.iter();
        UserView {
            user,
            name: self.name.to_string(),
            permissions: self.permissions,
            tokens: tokens
                .map(|(name, token)| (name.to_string(), token.expiry_micros))
                .collect(),
        }
    }
}

impl Metadata {
    /// The user of a name, for a login.
    #[must_use]
    pub fn user_named(&self, name: &str) -> Option<(UserId, &User)> {
        let mut users = self.users.iter();
        let (id, user) = users.find(|(_, user)| *user.name == *name)?;
        Some((*id, user))
    }

    /// Whose token has this hash, expired or not, for a login.
    #[must_use]
    pub fn token_of(&self, hash: &[u8]) -> Option<(UserId, &Token)> {
        self.tokens().find(|(_, token)| *token.hash == *hash)
    }

    fn tokens(&self) -> impl Iterator<Item = (UserId, &Token)> {
        let users = self.users.iter();
        users.flat_map(|(&id, user)| user.tokens.values().map(move |token| (id, token)))
    }

    fn user_mut(&mut self, id: UserId) -> Result<&mut User, Refusal> {
        self.users.get_mut(&id).ok_or(Refusal::UserNotFound)
    }

    pub(super) fn create_user(
        &mut self,
        name: &str,
        password: Password<'_>,
        permissions: u8,
    ) -> Result<Answer, Refusal> {
        if self.user_named(name).is_some() {
            return Err(Refusal::NameTaken);
        }
        if self.users.len() >= USERS_MAX {
            return Err(Refusal::UsersFull);
        }
        self.last.user.0 += 1;
        let user = User {
            name: Rc::from(name),
            password: password.into(),
            permissions,
            tokens: BTreeMap::new(),
        };
        self.users.insert(self.last.user, user);
        Ok(Answer::UserCreated(self.last.user))
    }

    pub(super) fn update_user(
        &mut self,
        id: UserId,
        name: &str,
        permissions: u8,
    ) -> Result<Answer, Refusal> {
        self.user_mut(id)?;
        if id == ROOT {
            return Err(Refusal::RootProtected);
        }
        if self.user_named(name).is_some_and(|(of, _)| of != id) {
            return Err(Refusal::NameTaken);
        }
        let user = self.user_mut(id)?;
        user.name = Rc::from(name);
        user.permissions = permissions;
        Ok(Answer::Done)
    }

    pub(super) fn change_password(
        &mut self,
        id: UserId,
        current_hash: &[u8],
        password: Password<'_>,
    ) -> Result<Answer, Refusal> {
        let user = self.user_mut(id)?;
        if *user.password.hash != *current_hash {
            return Err(Refusal::WrongPassword);
        }
        user.password = password.into();
        Ok(Answer::Done)
    }

    pub(super) fn delete_user(&mut self, id: UserId) -> Result<Answer, Refusal> {
        self.user_mut(id)?;
        if id == ROOT {
            return Err(Refusal::RootProtected);
        }
        self.users.remove(&id);
        Ok(Answer::Done)
    }

    pub(super) fn create_token(
        &mut self,
        id: UserId,
        name: &str,
        token: Token,
        entry: Entry,
    ) -> Result<Answer, Refusal> {
        let is_taken = self.token_of(&token.hash).is_some();
        let count = self.tokens().count();
        let user = self.user_mut(id)?;
        if user.tokens.contains_key(name) {
            return Err(Refusal::NameTaken);
        }
        if is_taken {
            return Err(Refusal::TokenTaken);
        }
        if token.is_expired(entry.now_micros) {
            return Err(Refusal::Expired);
        }
        if count >= TOKENS_MAX {
            return Err(Refusal::TokensFull);
        }
        user.tokens.insert(Rc::from(name), token);
        Ok(Answer::Done)
    }

    pub(super) fn delete_token(&mut self, id: UserId, name: &str) -> Result<Answer, Refusal> {
        let token = self.user_mut(id)?.tokens.remove(name);
        token.map(|_| Answer::Done).ok_or(Refusal::TokenNotFound)
    }

    pub(super) fn get_user(&self, id: UserId) -> Result<Answer, Refusal> {
        let user = self.users.get(&id).ok_or(Refusal::UserNotFound)?;
        Ok(Answer::User(user.view(id)))
    }
}
