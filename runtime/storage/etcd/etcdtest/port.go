package etcdtest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// FreePort returns a loopback port on which nobody listens. It is below the ports that systems choose for connections
// and for listeners on port 0, so that no other process gets it by chance, also while a killed server is away.
func FreePort(t testing.TB) int {
	t.Helper()
	const lowest, highest, tries = 10_000, 32_000, 1000
	var err error
	for range tries {
		port := lowest + rand.IntN(highest-lowest)
		var listener net.Listener
		if listener, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err != nil {
			continue
		}
		if err = listener.Close(); err == nil {
			return port
		}
	}
	t.Fatalf("no port is free: %v", err)
	return 0
}
