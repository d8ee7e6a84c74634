package exchange

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// script is a file of requests and answers:
//
//	=== name               a scene, in a namespace of that name
//	# why it is there
//	given pdb a {...}      objects that it finds
//	>>> GET $PDBS/a        a request, with headers and body as HTTP has them
//	Accept: text/plain
//	<<< 406 NotAcceptable  kube-apiserver's answer
//	...
//	!!! why                ours is another
//	<<< 200
//	...
type script struct {
	path     string
	preamble []string
	scenes   []*scene
}

type scene struct {
	name      string
	comment   []string
	given     []string
	exchanges []*exchange
}

// exchange is a request and its answers; several where several requests hide in one.
type exchange struct {
	request []string
	theirs  []string
	// why ours is another answer; "" if it isn't.
	why  string
	ours []string
}

// The marks at the beginnings of lines.
const (
	sceneMark   = "=== "
	givenMark   = "given "
	requestMark = ">>> "
	answerMark  = "<<< "
	otherMark   = "!!! "
)

// text is what stands in the file, without the empty lines behind it.
func text(answers []string) string {
	return strings.TrimRight(strings.Join(answers, "\n"), "\n")
}

// expected is the answer that ours must give.
func (e *exchange) expected() string {
	if e.why != "" {
		return text(e.ours)
	}
	return text(e.theirs)
}

// answers is how many answers are expected.
func (e *exchange) answers() int { return strings.Count("\n"+e.expected(), "\n"+answerMark) }

func readScript(t testing.TB, path string) *script {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{path: path}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	into := &s.preamble
	for i, line := range lines {
		if name, ok := strings.CutPrefix(line, sceneMark); ok {
			s.scenes = append(s.scenes, &scene{name: name})
			into = &s.scenes[len(s.scenes)-1].comment
			continue
		}
		if len(s.scenes) > 0 {
			var err error
			if into, line, err = s.scenes[len(s.scenes)-1].read(line, into); err != nil {
				t.Fatalf("%s:%d: %v", path, i+1, err)
			}
		}
		if into != nil {
			*into = append(*into, line)
		}
	}
	return s
}

// read sorts a line of a scene: where it belongs, and what of it.
func (s *scene) read(line string, into *[]string) (*[]string, string, error) {
	last := func() *exchange { return s.exchanges[len(s.exchanges)-1] }
	switch {
	case strings.HasPrefix(line, givenMark) && len(s.exchanges) == 0:
		return &s.given, line, nil
	case strings.HasPrefix(line, requestMark):
		s.exchanges = append(s.exchanges, &exchange{})
		return &last().request, strings.TrimPrefix(line, requestMark), nil
	case len(s.exchanges) == 0:
		if line != "" && !strings.HasPrefix(line, "#") {
			return nil, "", fmt.Errorf("%q is no comment", line)
		}
	case strings.HasPrefix(line, otherMark):
		last().why = strings.TrimPrefix(line, otherMark)
		return nil, "", nil
	case strings.HasPrefix(line, answerMark) && last().why != "":
		return &last().ours, line, nil
	case strings.HasPrefix(line, answerMark):
		return &last().theirs, line, nil
	}
	return into, line, nil
}

// write writes the file as it was read, with one empty line between scenes.
func (s *script) write(t testing.TB) {
	t.Helper()
	var b strings.Builder
	paragraph := func(lines []string) {
		if text := strings.TrimRight(strings.Join(lines, "\n"), "\n"); text != "" {
			b.WriteString(text + "\n")
		}
	}
	paragraph(s.preamble)
	for _, scene := range s.scenes {
		b.WriteString("\n" + sceneMark + scene.name + "\n")
		paragraph(scene.comment)
		paragraph(scene.given)
		for _, e := range scene.exchanges {
			b.WriteString(requestMark)
			paragraph(e.request)
			paragraph(e.theirs)
			if e.why != "" {
				b.WriteString(otherMark + e.why + "\n")
				paragraph(e.ours)
			}
		}
	}
	if err := os.WriteFile(s.path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
