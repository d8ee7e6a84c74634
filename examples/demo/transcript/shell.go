package transcript

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
)

// Shell is a bash that runs the steps of one session, so that they share the working directory, variables and jobs.
type Shell struct {
	process *exec.Cmd
	in      io.WriteCloser
	lines   chan string
	// log is the file that servers in the background write their standard error to.
	log string
	// Echo gets each command and its output while it runs. It is set before the first Run.
	Echo io.Writer
}

// mark ends the output of a command; the exit status follows it.
const mark = "--- end of the output, exit status "

// Start starts a shell in a folder. Servers that it runs in the background log to the file log. The shell is killed
// when the context ends; Close ends it and its jobs.
func Start(ctx context.Context, dir, log string, env []string) (*Shell, error) {
	s := &Shell{process: exec.CommandContext(ctx, "bash", "--norc", "-s"), lines: make(chan string, 100)}
	s.log, s.Echo = log, io.Discard
	s.process.Dir, s.process.Env = dir, env
	in, err := s.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	s.in = in
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.process.Stderr = s.process.Stdout
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			s.lines <- scanner.Text()
		}
	}()
	// With job control a job is a process group, so that `kill %1` reaches what `go run` started.
	_, err = io.WriteString(s.in, "set -m\n")
	return s, err
}

// Close ends the jobs and the shell.
func (s *Shell) Close() error {
	const end = "jobs=$(jobs -p); for job in $jobs; do kill -- -$job; done 2>/dev/null; wait\n"
	_, _ = io.WriteString(s.in, end) // the shell may be dead
	if err := s.in.Close(); err != nil {
		return err
	}
	for range s.lines { // until the shell has ended
	}
	_ = s.process.Wait() // it ends with the status of its last command
	return nil
}

// Run runs a step, and fails if its output or its exit status differs, or if the context ends first. A command in the
// background that prints "serving" is a server: it listens on a free port in place of the page's, and has started once
// it has printed its lines.
func (s *Shell) Run(ctx context.Context, step Step) error {
	fmt.Fprintf(s.Echo, "$ %s\n", step.Command)
	command, want := step.Command, step.Want
	if strings.HasSuffix(command, `\`) {
		return fmt.Errorf("a command of a transcript is one line")
	}
	server, background := strings.CutSuffix(command, " &")
	if background && len(want) > 0 && strings.HasPrefix(want[0], "serving ") {
		command = server + " --secure-port=0 2>>" + s.log + " &"
		want = []string{strings.ReplaceAll(want[0], ":6443", ":..."), want[1]}
	}
	if _, err := fmt.Fprintf(s.in, "%s\nprintf '\\n%s%%d\\n' $?\n", command, mark); err != nil {
		return err
	}
	got, status, err := s.read(ctx, func(got []string) bool { return !background || Match(want, got) == nil })
	if err != nil {
		return fmt.Errorf("%w; so far it printed\n%s", err, strings.Join(got, "\n"))
	}
	if err := Match(want, got); err != nil {
		return err
	}
	if status != step.Status {
		return fmt.Errorf("exit status %s, want %s", status, step.Status)
	}
	return nil
}

// read collects lines until the command has ended and they are complete.
func (s *Shell) read(ctx context.Context, complete func([]string) bool) (got []string, status string, err error) {
	blank := false
	for status == "" || !complete(got) {
		select {
		case line, open := <-s.lines:
			if !open {
				return got, status, fmt.Errorf("the shell ended")
			}
			if ended, ok := strings.CutPrefix(line, mark); ok {
				status, blank = ended, false // printf's own newline is not an output
				continue
			}
			if blank {
				got = append(got, "")
				fmt.Fprintln(s.Echo)
			}
			if blank = line == ""; !blank {
				got = append(got, line)
				fmt.Fprintln(s.Echo, line)
			}
		case <-ctx.Done():
			return got, status, ctx.Err()
		}
	}
	return got, status, nil
}

// Match returns an error where the lines got are not those wanted.
func Match(want, got []string) error {
	var pattern strings.Builder
	pattern.WriteString(`(?s)\A`)
	for _, line := range want {
		if line == "..." {
			pattern.WriteString(`(?:[^\n]*\n)*`)
			continue
		}
		for i, text := range strings.Split(line, "...") {
			if i > 0 {
				pattern.WriteString(`[^\n]*`)
			}
			pattern.WriteString(regexp.QuoteMeta(text))
		}
		pattern.WriteString(` *\n`)
	}
	pattern.WriteString(`\z`)
	text := strings.Join(got, "\n")
	if len(got) > 0 {
		text += "\n"
	}
	if !regexp.MustCompile(pattern.String()).MatchString(text) {
		return fmt.Errorf("printed\n%s\nand the page says\n%s", text, strings.Join(want, "\n"))
	}
	return nil
}
