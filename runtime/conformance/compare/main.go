// Command compare measures the CPU time that a request costs apigen's server and k8s.io/sample-apiserver, and prints
// the table of README.md. It runs on Linux, in the module runtime/conformance: make compare. With -pair=audit both
// audit each request, and ours asks RBAC. With -pair=features it measures apigen's server without a feature beside the
// one with all that govern, the tables of docs/features.md; with -pair=access one without and with RBAC and audit; with
// -pair=fairness the one with all without and with priority and fairness; with -pair=observed also without and with
// tracing and the log of requests. With -before=FILE the first server of the pair is a program that was built from an
// earlier commit: what a commit without the features cost, beside one with them; -pair=plain is made for it, of two
// servers without a feature.
//
// Both servers serve the types of k8s.io/sample-apiserver. Each has an etcd process of its own on 127.0.0.1. Clients
// use HTTP/2 and TLS, and authenticate with a certificate of the group system:masters. Both servers hold the same
// number of objects, and clients ask for the version that a server stores.
//
// A row is measured in rounds. In each round, both servers get the same requests, one server after the other: a tenth
// of the requests to warm up, and then all of them between two readings of /proc/PID/stat. The user and system time
// between the readings, divided by the number of operations, is the server's time in that round. This includes garbage
// collection; it doesn't include the time of other processes, and the TLS handshakes of the requests that warm up. The
// table has the medians of all rounds, the ratio of the medians, and the smallest and the largest ratio of one round.
// On a busy machine, times grow for both servers; ratios change less.
//
// The last rows but one are no CPU time: they say how long a client waits that reads one object after the other, while
// another user lists all objects on many connections. Clients and servers share the machine's processors.
//
// The memory of an object is the difference between the server's heap with all objects and without objects, divided by
// their number. k8s.io/sample-apiserver has a watch cache and a watch on etcd for each version of a kind, so that it
// keeps an object twice and decodes each write twice.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
)

// options are the flags.
type options struct {
	objects, rounds, clients, watchers, scale int
	// rows matches the names of the rows that are measured.
	rows *regexp.Regexp
	// pair is a key of pairs. before is the file of the program that takes the place of its first server, or "".
	pair, before string
}

func main() {
	var o options
	flag.IntVar(&o.objects, "objects", 10000, "how many objects both servers hold")
	flag.IntVar(&o.rounds, "rounds", 3, "how often each row is measured")
	flag.IntVar(&o.clients, "clients", 4, "how many clients send requests at once; each has a connection")
	flag.IntVar(&o.watchers, "watchers", 100, "how many clients watch in the row of events")
	flag.IntVar(&o.scale, "scale", 100, "percentage of each row's number of operations")
	flag.StringVar(&o.pair, "pair", "peer", "which servers: "+pairNames())
	flag.StringVar(&o.before, "before", "", "program of an earlier commit, in place of the pair's first server")
	rows := flag.String("rows", "", "regular expression: measure only rows with such a name")
	flag.Parse()
	var err error
	if o.rows, err = regexp.Compile(*rows); err != nil {
		fmt.Fprintln(os.Stderr, "compare: -rows:", err)
		os.Exit(2)
	}
	if pairs[o.pair] == nil {
		fmt.Fprintln(os.Stderr, "compare: -pair must be one of", pairNames())
		os.Exit(2)
	}
	if min(o.rounds, o.clients, o.watchers, o.scale) < 1 || o.objects < max(100, 2*o.clients) {
		fmt.Fprintln(os.Stderr, "compare: -objects must be at least 100, and twice -clients; other numbers at least 1")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err = compare(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// compare runs both servers in a temporary folder, measures all rows, and prints the table to out, row by row.
func compare(ctx context.Context, o options, out io.Writer) error {
	dir, err := os.MkdirTemp("", "compare-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, cancel := context.WithCancel(ctx)
	fmt.Fprintln(os.Stderr, "building both servers and etcd")
	p, err := startPair(ctx, dir, o.servers())
	defer p.wait()
	defer cancel()
	if err != nil {
		return err
	}
	memory, size, err := fillBoth(ctx, p, o)
	if err != nil {
		return err
	}
	fmt.Fprint(out, p.header())
	for _, r := range rows {
		if !o.rows.MatchString(r.name) {
			continue
		}
		m, err := measure(ctx, p, o, r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		fmt.Fprintln(out, m.line(r.name, duration))
	}
	for _, connections := range floods {
		if !o.rows.MatchString(latencyName(connections)) {
			continue
		}
		m, err := latency(ctx, p, o, connections)
		if err != nil {
			return fmt.Errorf("%s: %w", latencyName(connections), err)
		}
		fmt.Fprintln(out, m.line(latencyName(connections), duration))
	}
	fmt.Fprintln(out, memory.line("memory of an object", kilobytes))
	fmt.Fprintf(out, "\n%s\n%s\n", o.summary(size), machine())
	return nil
}

// fillBoth creates the objects in both servers. It returns the heap that an object takes, and the size of its JSON.
func fillBoth(ctx context.Context, p pair, o options) (measurement, int, error) {
	var perObject [2]float64
	size := 0
	for i, s := range p.servers {
		fmt.Fprintf(os.Stderr, "creating %d objects in %s\n", o.objects, s.name)
		empty, err := s.heap(ctx)
		if err != nil {
			return nil, 0, err
		}
		if size, err = s.fill(ctx, o); err != nil {
			return nil, 0, fmt.Errorf("filling %s: %w", s.name, err)
		}
		full, err := s.heap(ctx)
		if err != nil {
			return nil, 0, err
		}
		perObject[i] = (full - empty) / float64(o.objects)
	}
	return measurement{perObject}, size, nil
}

// measure runs a row in turn on both servers.
func measure(ctx context.Context, p pair, o options, r row) (measurement, error) {
	for _, s := range p.servers {
		if err := r.verify(ctx, s, o); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	var m measurement
	for round := range o.rounds {
		var perOperation [2]float64
		for i, s := range p.servers {
			seconds, operations, err := r.round(ctx, s, o, round)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			perOperation[i] = seconds / float64(operations)
		}
		m = append(m, perOperation)
	}
	return m, nil
}
