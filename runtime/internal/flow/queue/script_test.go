package queue

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var rewrite = flag.Bool("rewrite", false, "write what the scripts of testdata print into them")

// TestScripts runs testdata/*.txt. A script is a list of commands, each followed by a line "----" and by what it
// prints, up to an empty line. Time passes in "pass" alone. The commands are the methods of script.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			printed := runScript(t, string(source))
			if *rewrite {
				if err := os.WriteFile(file, []byte(printed), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if printed != string(source) {
				t.Errorf("%s prints something else; run with -rewrite and look at the diff:\n%s", file, printed)
			}
		})
	}
}

// fakeClock is a Clock that stands still but in pass.
type fakeClock struct {
	now    time.Time
	events []event // in the order of their times
}

type event struct {
	at time.Time
	do func()
}

func (c *fakeClock) Now() time.Time { return c.now }

func (c *fakeClock) AfterFunc(d time.Duration, f func()) {
	e := event{c.now.Add(d), f}
	at, _ := slices.BinarySearchFunc(c.events, e.at.Add(1), func(e event, at time.Time) int { return e.at.Compare(at) })
	c.events = slices.Insert(c.events, at, e)
}

// pass lets time pass, with the events that are due in it.
func (c *fakeClock) pass(d time.Duration) {
	end := c.now.Add(d)
	for {
		if len(c.events) == 0 || c.events[0].at.After(end) {
			c.now = end
			return
		}
		next := c.events[0]
		c.events = c.events[1:]
		c.now = next.at
		next.do()
	}
}

type script struct {
	t       *testing.T
	clock   *fakeClock
	set     *Set
	flows   map[string]*Flow
	tickets map[string]*Ticket
	waiting []string // in the order of their arrival
}

func runScript(t *testing.T, source string) string {
	s := &script{
		t: t, clock: &fakeClock{now: time.Unix(0, 0)}, flows: map[string]*Flow{}, tickets: map[string]*Ticket{},
	}
	var out strings.Builder
	lines := strings.Split(strings.TrimRight(source, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for i+1 < len(lines) && lines[i+1] != "" && !strings.HasPrefix(lines[i+1], "#") {
			i++ // what was printed before
		}
		printed := s.run(line) + s.news()
		out.WriteString("----\n" + printed)
		if printed == "" {
			out.WriteString("ok\n")
		}
	}
	return out.String()
}

func (s *script) run(line string) string {
	words := strings.Fields(line)
	options := map[string]string{}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		options[name] = value
	}
	number := func(name string, otherwise int) int {
		if text, given := options[name]; given {
			n, err := strconv.Atoi(text)
			if err != nil {
				s.t.Fatalf("%s: %v", line, err)
			}
			return n
		}
		return otherwise
	}
	switch words[0] {
	case "configure":
		return s.configure(number)
	case "enter":
		return s.enter(strings.Split(words[1], ","), options, number)
	case "pass":
		s.clock.pass(s.duration(words[1]))
	case "leave":
		for name := range strings.SplitSeq(words[1], ",") {
			if s.tickets[name].waits {
				s.t.Fatalf("%s: %s doesn't execute", line, name)
			}
			s.tickets[name].Leave()
		}
	case "timeout":
		return s.timeout(words[1])
	case "state":
		return s.state()
	case "demand":
		d := s.set.TakeDemand()
		return fmt.Sprintf("in %s: average %.3f, deviation %.3f, at most %d\n", d.Period, d.Average, d.Deviation, d.Max)
	default:
		s.t.Fatalf("unknown command: %s", line)
	}
	return ""
}

func (s *script) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// configure changes the Set, or makes it: configure queues=2 length=1 hand=1 limit=3.
func (s *script) configure(number func(string, int) int) string {
	config := Config{Queues: number("queues", 0), Length: number("length", 0), Hand: number("hand", 1),
		Exempt: number("exempt", 0) == 1}
	if err := config.Check(); err != nil {
		return err.Error() + "\n"
	}
	if s.set == nil {
		s.set = New(s.clock, config)
	}
	s.set.Configure(config, number("limit", 0), max(1, number("limit", 0)))
	return ""
}

// enter lets requests arrive: enter a1,a2 flow=a hash=0 seats=1 final=0 latency=5ms. The name of the flow is by default
// that of the request without digits.
func (s *script) enter(names []string, options map[string]string, number func(string, int) int) string {
	var out strings.Builder
	for _, name := range names {
		of := options["flow"]
		if of == "" {
			of = strings.TrimRight(name, "0123456789")
		}
		if s.flows[of] == nil {
			s.flows[of] = &Flow{Name: of}
		}
		e := Estimate{Seats: number("seats", 1), Final: number("final", 0)}
		if text := options["latency"]; text != "" {
			e.Latency = s.duration(text)
		}
		ticket, err := enter(s.set, Arrival{Flow: s.flows[of], Hash: uint64(number("hash", 0)), Estimate: e})
		switch {
		case err != nil:
			fmt.Fprintf(&out, "%s: %v\n", name, err)
		case ticket.Waited():
			fmt.Fprintf(&out, "%s waits in queue %d\n", name, ticket.line)
			s.tickets[name], s.waiting = ticket, append(s.waiting, name)
		default:
			fmt.Fprintf(&out, "%s executes\n", name)
			s.tickets[name] = ticket
		}
	}
	return out.String()
}

// news tells which requests were dispatched.
func (s *script) news() string {
	var out strings.Builder
	type dispatched struct {
		name string
		at   time.Time
	}
	var all []dispatched
	s.waiting = slices.DeleteFunc(s.waiting, func(name string) bool {
		ticket := s.tickets[name]
		select {
		case <-ticket.ready:
			all = append(all, dispatched{name, ticket.started})
			return true
		default:
			return false
		}
	})
	slices.SortStableFunc(all, func(a, b dispatched) int { return a.at.Compare(b.at) })
	for _, d := range all {
		fmt.Fprintf(&out, "%s is dispatched at %s\n", d.name, d.at.Sub(time.Unix(0, 0)))
	}
	return out.String()
}

func (s *script) timeout(name string) string {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := s.tickets[name].Wait(ctx)
	s.waiting = slices.DeleteFunc(s.waiting, func(other string) bool { return other == name })
	return fmt.Sprintf("%s: %v\n", name, err)
}

func (s *script) state() string {
	s.set.Stats() // brings the virtual time up to the clock
	d := s.set.Dump()
	var out strings.Builder
	fmt.Fprintf(&out, "R %s: %d execute on %d seats, %d wait for %d\n", s.set.virtual, d.Executing, d.Seats, d.Waiting,
		d.WaitingSeats)
	for i, q := range d.Queues {
		if len(q.Waiting)+len(q.Executing)+q.Seats > 0 {
			fmt.Fprintf(&out, "queue %d: %d execute on %d seats, %d wait for %d with %s, next at %s\n", i,
				len(q.Executing), q.Seats, len(q.Waiting), q.MaxSeats, q.Work, q.Next)
		}
	}
	return out.String()
}

func enter(s *Set, a Arrival) (*Ticket, error) {
	ticket := new(Ticket)
	return ticket, s.Enter(ticket, a)
}
