//! Listening sockets: one a thread on the same port, so that the kernel spreads connections and threads share nothing.

use std::{
    io,
    net::{SocketAddr, TcpListener},
};

use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, listen, socket_with,
    sockopt::{set_socket_reuseaddr, set_socket_reuseport, set_tcp_nodelay},
};

/// Connections the kernel may hold for us; it clamps this to `somaxconn`.
const BACKLOG: i32 = 65_535;

/// Opens `count` nonblocking listeners on one address.
///
/// # Errors
/// Whatever binding gives, above all an address that is in use. With port
/// sharing the kernel would let two targets of one user have the same port and
/// split its connections between them, so the address is tried without first.
pub(crate) fn listeners(address: SocketAddr, count: usize) -> io::Result<Vec<TcpListener>> {
    if count == 1 {
        return Ok(vec![open(address, false)?]);
    }
    let probe = open(address, false)?;
    let address = probe.local_addr()?;
    drop(probe);
    (0..count).map(|_| open(address, true)).collect()
}

fn open(address: SocketAddr, shared: bool) -> io::Result<TcpListener> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    set_socket_reuseaddr(&socket, true)?;
    if shared {
        set_socket_reuseport(&socket, true)?;
    }
    // Accepted sockets inherit this: no system call per connection.
    set_tcp_nodelay(&socket, true)?;
    bind(&socket, &address)?;
    listen(&socket, BACKLOG)?;
    Ok(TcpListener::from(socket))
}
