package recorded

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// script is a file of writes of one kind.
type script struct {
	file       string
	head       []string // comments, and the lines of path and base
	path, base string
	writes     []*write
}

// write is one write, with its comment and kube-apiserver's answer.
type write struct {
	comment       []string
	verb          string // create, update or table
	sub           string // the subresource of an update
	patch, answer string
	// why tells why ours is another answer, in which case ours is that.
	why, ours string
}

// readScripts reads all scripts.
func readScripts(t *testing.T) (all []*script) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "writes", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, parse(t, file, string(text)))
	}
	return all
}

func parse(t *testing.T, file, text string) *script {
	t.Helper()
	s := &script{file: file}
	var comment []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		verb, sub, _ := strings.Cut(word, "/")
		switch {
		case verb == "path":
			s.path, s.head, comment = rest, append(s.head, append(comment, line)...), nil
		case verb == "base":
			s.base, s.head = rest, append(s.head, line)
		case verb == "create" || verb == "update" || verb == "table":
			s.writes = append(s.writes, &write{comment: comment, verb: verb, sub: sub, patch: rest})
			comment = nil
		case strings.HasPrefix(line, "=") || strings.HasPrefix(line, " "):
			last := s.writes[len(s.writes)-1]
			last.answer += line + "\n"
		case strings.HasPrefix(line, "! "):
			s.writes[len(s.writes)-1].why = line + "\n"
		case strings.HasPrefix(line, "| "):
			s.writes[len(s.writes)-1].ours += line[2:] + "\n"
		default:
			comment = append(comment, line)
		}
	}
	if s.path == "" || s.base == "" {
		t.Fatalf("%s: no path, or no base", file)
	}
	return s
}

// String is the script as a file has it.
func (s *script) String() string {
	var b strings.Builder
	b.WriteString(strings.Join(s.head, "\n") + "\n")
	for _, w := range s.writes {
		for _, line := range w.comment {
			b.WriteString(line + "\n")
		}
		b.WriteString(strings.TrimRight(w.name()+" "+w.patch, " ") + "\n" + w.answer + w.why)
		for line := range strings.Lines(w.ours) {
			b.WriteString("| " + line)
		}
	}
	return b.String()
}

func (w *write) name() string {
	if w.sub != "" {
		return w.verb + "/" + w.sub
	}
	return w.verb
}
