//! Services tell each other of their retries: attempt numbers go down a chain of services, a "don't" comes back up.

#[path = "across_services/chain.rs"]
mod chain;
#[path = "across_services/pushback.rs"]
mod pushback;
#[path = "across_services/servers.rs"]
mod servers;
