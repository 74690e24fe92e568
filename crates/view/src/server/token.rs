//! The secret part of the address.

use std::io;

/// 128 random bits as 32 hexadecimal digits.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A new token from the system's randomness.
    ///
    /// # Errors
    /// If the system has none.
    pub fn random() -> io::Result<Token> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Its digits.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// True for the same token. The time does not depend on the place of the first difference.
    pub fn is(&self, other: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), other.as_bytes());
        own.len() == other.len() && own.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b)) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_itself_fits() {
        let token = Token::random().expect("the system has randomness");
        assert_eq!(token.text().len(), 32);
        assert!(token.is(token.text()));
        assert!(!token.is("") && !token.is(&token.text()[1..]));
        let other = Token::random().expect("the system has randomness");
        assert!(!token.is(other.text()));
    }
}
