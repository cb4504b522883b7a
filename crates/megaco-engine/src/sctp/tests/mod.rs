//! Endpoints on a network in virtual time that loses, repeats and delays datagrams.

mod ends;
mod hostile;
mod peer;
mod reliable;
mod world;
