//! Users and their tokens in the reference. Must never share code with the metadata group.

use super::{MetadataModel, ROOT, TokenRow, UserRow, need};
use crate::ids::UserId;
use crate::machine::metadata::{Answer, Password, Refusal, TOKENS_MAX, USERS_MAX};

impl MetadataModel {
    pub(super) fn create_user(
        &mut self,
        name: &str,
        password: Password<'_>,
        permissions: u8,
    ) -> Result<Answer, Refusal> {
        let is_taken = self.users.iter().any(|row| row.name == name);
        need(!is_taken, Refusal::NameTaken)?;
        need(self.users.len() < USERS_MAX, Refusal::UsersFull)?;
        self.made.users += 1;
        let id = UserId(self.made.users);
        self.users.push(UserRow {
            id,
            name: name.to_owned(),
            hash: password.hash.to_vec(),
            permissions,
        });
        Ok(Answer::UserCreated(id))
    }

    pub(super) fn update_user(
        &mut self,
        id: UserId,
        name: &str,
        permissions: u8,
    ) -> Result<Answer, Refusal> {
        self.need_user(id)?;
        need(id != ROOT, Refusal::RootProtected)?;
        let mut others = self.users.iter().filter(|row| row.id != id);
        need(others.all(|row| row.name != name), Refusal::NameTaken)?;
        for row in self.users.iter_mut().filter(|row| row.id == id) {
            row.name = name.to_owned();
            row.permissions = permissions;
        }
        Ok(Answer::Done)
    }

    pub(super) fn change_password(
        &mut self,
        id: UserId,
        current_hash: &[u8],
        password: Password<'_>,
    ) -> Result<Answer, Refusal> {
        self.need_user(id)?;
        for row in self.users.iter_mut().filter(|row| row.id == id) {
            need(row.hash == current_hash, Refusal::WrongPassword)?;
            row.hash = password.hash.to_vec();
        }
        Ok(Answer::Done)
    }

    pub(super) fn delete_user(&mut self, id: UserId) -> Result<Answer, Refusal> {
        self.need_user(id)?;
        need(id != ROOT, Refusal::RootProtected)?;
        self.users.retain(|row| row.id != id);
        self.tokens.retain(|row| row.of != id);
        Ok(Answer::Done)
    }

    pub(super) fn create_token(&mut self, token: TokenRow) -> Result<Answer, Refusal> {
        self.need_user(token.of)?;
        let mut rows = self.tokens.iter();
        let is_same = |row: &TokenRow| row.of == token.of && row.name == token.name;
        need(!rows.any(is_same), Refusal::NameTaken)?;
        let is_taken = self.tokens.iter().any(|row| row.hash == token.hash);
        need(!is_taken, Refusal::TokenTaken)?;
        let expiry = token.expiry_micros.unwrap_or(u64::MAX);
        need(expiry > self.now_micros, Refusal::Expired)?;
        need(self.tokens.len() < TOKENS_MAX, Refusal::TokensFull)?;
        self.tokens.push(token);
        Ok(Answer::Done)
    }

    pub(super) fn delete_token(&mut self, of: UserId, name: &str) -> Result<Answer, Refusal> {
        self.need_user(of)?;
        let is_it = |row: &TokenRow| row.of == of && row.name == name;
        need(self.tokens.iter().any(is_it), Refusal::TokenNotFound)?;
        self.tokens.retain(|row| !is_it(row));
        Ok(Answer::Done)
    }
}
