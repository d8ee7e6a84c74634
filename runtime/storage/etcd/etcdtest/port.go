package etcdtest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// FreePort is a loopback port that nobody listens on. It is below those that systems choose from for connections and for
// listeners on port 0: nobody gets it by chance before it is listened on, or while a server that was killed is away.
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
