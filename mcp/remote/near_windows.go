package remote

import "net"

// nearWorks: whether a connection is still good cannot be seen here without
// waiting, so that package http looks after them.
const nearWorks = false

func silent(net.Conn) bool { return false }
