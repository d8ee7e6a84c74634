package encoder

import "io"

// NewIndenter returns a writer that indents the JSON that it is given by two spaces, as json.Indent does, and writes it
// to f. It takes one valid document in pieces of any size and holds none of it. Its error is the error of f.
func NewIndenter(f *Frame) io.Writer { return &indenter{f: f} }

type indenter struct {
	f     *Frame
	depth int
	// empty: the innermost open object or array has no members yet.
	empty, inString, escaped, begun bool
}

func (d *indenter) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		n := 1
		if d.inString {
			n = d.scanString(rest)
			d.f.bytes(rest[:n])
		} else {
			d.structure(rest[:1])
		}
		rest = rest[n:]
	}
	return len(b), d.f.err
}

// scanString returns how many bytes of b belong to the string in which b begins.
func (d *indenter) scanString(b []byte) int {
	for i, c := range b {
		switch {
		case d.escaped:
			d.escaped = false
		case c == '\\':
			d.escaped = true
		case c == '"':
			d.inString = false
			return i + 1
		}
	}
	return len(b)
}

func (d *indenter) structure(b []byte) {
	switch b[0] {
	case ' ', '\t', '\r', '\n':
		if d.begun && d.depth == 0 { // after the document
			d.f.bytes(b)
		}
		return
	case '}', ']':
		d.depth--
		if !d.empty {
			d.newline()
		}
		d.empty = false
		d.f.bytes(b)
		return
	}
	if d.empty {
		d.empty = false
		d.newline()
	}
	d.begun = true
	d.f.bytes(b)
	switch b[0] {
	case '{', '[':
		d.depth++
		d.empty = true
	case ',':
		d.newline()
	case ':':
		d.f.text(" ")
	case '"':
		d.inString = true
	}
}

func (d *indenter) newline() {
	d.f.text("\n")
	for range d.depth {
		d.f.text("  ")
	}
}
