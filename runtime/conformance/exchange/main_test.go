package exchange

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// TestMain lets more scenes run side by side than there are processors: most of the time they wait for the server,
// which waits for a revision of the future or for the end of a watch.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
