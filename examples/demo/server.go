package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// server is the project's server as a process.
type server struct {
	project string
	process *exec.Cmd
	log     strings.Builder
	ended   chan error
}

// start runs the server on a free port and returns once the server prints that it serves.
func (s *server) start(ctx context.Context) error {
	args := []string{"--secure-port=0", "--data-dir=data"}
	fmt.Printf("$ bin/shop %s &\n", strings.Join(args, " "))
	s.process = exec.CommandContext(context.WithoutCancel(ctx), filepath.Join(s.project, binary("bin/shop")), args...)
	s.process.Dir = s.project
	s.process.Stderr = &s.log
	out, err := s.process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.process.Start(); err != nil {
		return err
	}
	s.ended = make(chan error, 1)
	lines := make(chan string)
	go func() {
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			lines <- scanner.Text()
		}
		close(lines)
		s.ended <- s.process.Wait()
	}()
	deadline := time.After(3 * time.Minute)
	for {
		select {
		case line, open := <-lines:
			if !open {
				return errors.Join(fmt.Errorf("the server ended: %w", <-s.ended), s.failure())
			}
			fmt.Println(line)
			if strings.HasPrefix(line, "kubeconfig:") {
				go func() {
					for range lines { // nothing more is expected; a pipe that nobody reads would block the server
					}
				}()
				return nil
			}
		case <-deadline:
			return errors.New("the server did not come up within 3 minutes")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// kill ends the server as a crash would.
func (s *server) kill() {
	if s.process.ProcessState == nil {
		_ = s.process.Process.Kill() // fails where it has ended already
		<-s.ended                    //nolint:errcheck // it was killed, and says so
		s.ended <- nil
	}
}

// stop ends the server as an operator would.
func (s *server) stop() error {
	if runtime.GOOS == "windows" { // which has no SIGTERM
		s.kill()
		return nil
	}
	fmt.Println("$ kill %1")
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-s.ended:
		s.ended <- nil
		return err
	case <-time.After(2 * time.Minute):
		return errors.New("the server did not end within 2 minutes of SIGTERM")
	}
}

// failure returns the server's standard error.
func (s *server) failure() error {
	if s.log.Len() == 0 {
		return nil
	}
	return fmt.Errorf("the server's log:\n%s", s.log.String())
}

func binary(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.FromSlash(name)
}

// lookKubectl returns kubectl's path, or "".
func lookKubectl() string {
	path, err := exec.LookPath("kubectl")
	if err != nil {
		return ""
	}
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}
