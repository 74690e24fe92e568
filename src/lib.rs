//! haggle simulates autonomous resource providers that bargain over work.
