"""What remains when the server, a system call or the disk fails."""
