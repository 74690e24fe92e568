//! The journal under every crash and damage that a disk in memory can make, and one of the file system that is killed.

mod crashes;
mod damage;
mod file_system;
mod world;
