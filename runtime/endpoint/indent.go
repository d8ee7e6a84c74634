package endpoint

// indenter writes JSON for people as it comes, as json.Indent does with two spaces: a list is never in memory as a whole.
// What is written to it must be valid, in pieces of any size.
type indenter struct {
	f     *frame
	depth int
	// empty: the object or array that was opened last has nothing in it yet.
	empty, inString, escaped, begun bool
}

// Write implements io.Writer. The error is the frame's.
func (d *indenter) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		n := 1
		if d.inString {
			n = d.text(rest)
			d.f.bytes(rest[:n])
		} else {
			d.structure(rest[:1])
		}
		rest = rest[n:]
	}
	return len(b), d.f.err
}

// text tells how much of b belongs to the string that it begins in.
func (d *indenter) text(b []byte) int {
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

// structure writes one byte outside of strings.
func (d *indenter) structure(b []byte) {
	switch b[0] {
	case ' ', '\t', '\r', '\n':
		if d.begun && d.depth == 0 { // behind the end
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
