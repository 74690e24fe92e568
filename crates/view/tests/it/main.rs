//! Tests of the viewer: scenes against the tables, and the server with a client.

mod client;
mod hostile;
mod routes;
mod runs;
mod scenes;
mod seen;
mod tiles;
