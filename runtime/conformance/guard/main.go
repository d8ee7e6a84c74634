// Command guard compares benchmarks of this checkout with those of another commit, and fails if one of them allocates
// more, or is slower beyond noise: make guard. Uncommitted changes count.
//
// Each benchmark runs in rounds, in each round once for both commits, one after the other, so that what else the
// machine does meets both. A benchmark fails if its smallest number of allocations grew by more than 2 %, or if the
// median of the rounds' ratios of time is above 1.05, and none of the ratios is below 1.02. Benchmarks that both
// commits compile to the same program don't run.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/tools/benchmark/parse"
)

// watched are the benchmarks: those of each request that clients send often, by the folder of their package.
var watched = []struct{ folder, benchmarks string }{
	{"runtime/internal/http/endpoint", "^Benchmark(Get|List10000|StoredList10000|Watch10000)$"},
	{"runtime/internal/state/cache", "^Benchmark(List|Publish|Write)$"},
	{"runtime/internal/custom/agreement", "^BenchmarkWrite$"},
	{"runtime/codec", "^Benchmark(Render|EncodeStored)$"},
}

func main() {
	base := flag.String("base", "HEAD^", "the commit to compare with")
	rounds := flag.Int("rounds", 6, "how often each benchmark runs for each of both")
	flag.Parse()
	if *rounds < 1 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	failed, err := guard(ctx, *base, *rounds)
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "guard:", err)
		os.Exit(2)
	case failed:
		os.Exit(1)
	}
}

// guard prints a row for each benchmark, and reports whether one failed.
func guard(ctx context.Context, base string, rounds int) (failed bool, err error) {
	root, err := output(ctx, ".", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "guard-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	tree := filepath.Join(dir, "base")
	if _, err := output(ctx, root, "git", "worktree", "add", "--quiet", "--detach", tree, base); err != nil {
		return false, err
	}
	defer func() {
		_, removed := output(context.WithoutCancel(ctx), root, "git", "worktree", "remove", "--force", tree)
		if err == nil {
			err = removed
		}
	}()
	for _, w := range watched {
		p := pair{ctx: ctx, benchmarks: w.benchmarks, folders: [2]string{
			filepath.Join(tree, w.folder), filepath.Join(root, w.folder),
		}}
		same, err := p.build(dir)
		if err != nil {
			return failed, fmt.Errorf("%s: %w", w.folder, err)
		}
		if same {
			fmt.Println(w.folder, "is the same program at both commits")
			continue
		}
		results, err := p.run(rounds)
		if err != nil {
			return failed, fmt.Errorf("%s: %w", w.folder, err)
		}
		for _, r := range results {
			verdict := r.verdict()
			failed = failed || verdict != ""
			fmt.Println(r.row(w.folder), verdict)
		}
	}
	return failed, nil
}

// pair is a package at both commits: the base, and this checkout.
type pair struct {
	ctx        context.Context
	benchmarks string
	folders    [2]string
	binaries   [2]string
}

// build compiles the benchmarks of both, without what differs between two compilations of the same code, and reports
// whether the programs are the same.
func (p *pair) build(dir string) (same bool, err error) {
	var programs [2][]byte
	for i, folder := range p.folders {
		p.binaries[i] = filepath.Join(dir, fmt.Sprint("benchmark", i))
		if _, err := output(p.ctx, folder, "go", "test", "-c", "-trimpath", "-ldflags=-buildid=", "-o", p.binaries[i],
			"."); err != nil {
			return false, err
		}
		if programs[i], err = os.ReadFile(p.binaries[i]); err != nil {
			return false, err
		}
	}
	return bytes.Equal(programs[0], programs[1]), nil
}

func (p *pair) run(rounds int) ([]*result, error) {
	var all results
	for round := range rounds {
		for i := range p.folders {
			side := (round + i) % 2 // neither is always the first
			out, err := output(p.ctx, p.folders[side], p.binaries[side], "-test.run=^$", "-test.benchmem",
				"-test.bench="+p.benchmarks)
			if err != nil {
				return nil, err
			}
			set, err := parse.ParseSet(strings.NewReader(out))
			if err != nil {
				return nil, err
			}
			all.add(side, set)
		}
	}
	return all.compared(), nil
}

// output runs a command, and returns what it prints to its standard output.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
