// Command etcd is the etcd server of this module, for tests that want it as a process of its own. It ends with its
// standard input, so that it never outlives the test that started it.
package main

import (
	"io"
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	etcdmain.Main(os.Args)
}
