package endpoint

import (
	"bytes"
	"net/http"
	"runtime"
	"slices"
	"time"
	"unicode/utf8"

	"apigen.dev/runtime/api"
	"golang.org/x/sync/semaphore"
	"sigs.k8s.io/yaml"
)

// yamlPiece is how much JSON of a list is turned into YAML at once, or the one item that is larger.
const yamlPiece = 16 << 10

// converters is how many pieces are turned into YAML at once. It takes forty times their size, and time: half of the CPUs
// are left to others.
func converters() *semaphore.Weighted {
	return semaphore.NewWeighted(max(1, int64(runtime.GOMAXPROCS(0)/2)))
}

// respondYAML converts all of the JSON that fill makes before it writes anything.
func (c *call) respondYAML(code int, fill func(*frame)) {
	data, err := c.inYAML(fill)
	if err != nil {
		c.api.writeError(c.w, c.r, err)
		return
	}
	out := c.newAnswer(formatYAML, code)
	defer out.close()
	out.complete = true
	_, _ = out.Write(data) // the client went away
}

// inYAML is what fill makes, which is JSON, in YAML, when it is its turn. The error is an end of the request where it didn't
// come to that, and no 429: what was asked for may have been done.
func (c *call) inYAML(fill func(*frame)) ([]byte, error) {
	if err := c.api.converters.Acquire(c.r.Context(), 1); err != nil {
		return nil, err
	}
	defer c.api.converters.Release(1)
	var whole bytes.Buffer
	f := frameFor(&whole, &c.api.pools.frames)
	defer f.release(&c.api.pools.frames)
	fill(f)
	f.flush()
	return toYAML(whole.Bytes())
}

// pageYAML writes a list as its items come, some of them at once.
func (c *call) pageYAML(shape api.Shape, page *api.Page) {
	list := yamlList{call: c, shape: shape, now: time.Now(), out: c.newAnswer(formatYAML, http.StatusOK)}
	defer list.out.close()
	list.to = frameFor(list.out, &c.api.pools.frames)
	defer list.to.release(&c.api.pools.frames)
	if list.err = list.open(page); list.err == nil {
		list.write(page)
	}
	switch {
	case list.err == nil:
		list.out.complete = list.out.out == nil
		list.to.flush()
	case list.out.out == nil:
		c.api.writeError(c.w, c.r, list.err)
	default:
		c.api.tell(c.r.Context(), list.err)
		panic(http.ErrAbortHandler) // half a list must not pass for a whole one
	}
}

// yamlList is a list on its way out. YAML's members are sorted, so there are some on either side of the items.
type yamlList struct {
	*call
	shape         api.Shape
	now           time.Time
	out           *answer
	to            *frame // to out
	member        string // that of the items
	before, after []byte
	err           error
}

// open prepares what stands around the items.
func (l *yamlList) open(page *api.Page) error {
	l.member = "items"
	if isRow(l.shape) {
		l.member = "rows"
	}
	empty := *page
	empty.Items, empty.Sheets = func(func(api.Rendition) bool) {}, nil
	around, err := l.inYAML(func(f *frame) { jsonEncoder{}.page(f, l.resource, l.shape, &empty, l.now) })
	// All other lines that read like that are indented: they are deeper in the document.
	l.before, l.after, _ = bytes.Cut(around, []byte("\n"+l.member+": []\n"))
	l.before = append(l.before, '\n')
	return err
}

func (l *yamlList) write(page *api.Page) {
	if page.Sheets != nil {
		l.sheets(page.Sheets)
	} else {
		l.items(page)
	}
	if l.err != nil {
		return
	}
	if l.before != nil { // nothing was written
		l.to.bytes(l.before)
		l.to.text(l.member + ": []\n")
	}
	l.to.bytes(l.after)
}

// sheets writes what is joined already, a sheet after the other.
func (l *yamlList) sheets(sheets []api.Sheet) {
	for i := range sheets {
		l.piece(func(f *frame) { f.sheet(&sheets[i], true, l.now) })
		if l.err != nil || l.to.err != nil {
			return
		}
	}
}

func (l *yamlList) items(page *api.Page) {
	var items []api.Rendition
	size := 0
	join := func(f *frame) { f.items(slices.Values(items), l.shape, l.now) }
	for item := range l.to.wanted(page.Items) {
		items, size = append(items, item), size+len(item.Payload)
		if size < yamlPiece {
			continue
		}
		l.piece(join)
		if items, size = items[:0], 0; l.err != nil {
			return
		}
	}
	if len(items) > 0 {
		l.piece(join)
	}
}

// piece writes items as the list has them that holds nothing else.
func (l *yamlList) piece(join func(*frame)) {
	data, err := l.inYAML(func(f *frame) {
		f.text(`{"` + l.member + `":[`)
		join(f)
		f.text("]}")
	})
	if err != nil {
		l.err = err
		return
	}
	if l.before != nil {
		l.to.bytes(l.before)
		l.before = nil
	} else {
		data = data[len(l.member)+len(":\n"):]
	}
	l.to.bytes(data)
}

// toYAML turns JSON into YAML. JSON holds characters that YAML doesn't take as they are; those are escaped first, which is
// possible in strings alone, and there is nothing else that they may stand in.
func toYAML(data []byte) ([]byte, error) {
	return yaml.JSONToYAML(escapeForYAML(data))
}

const hexDigits = "0123456789abcdef"

func escapeForYAML(data []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(data); {
		if c := data[i]; c < utf8.RuneSelf && c != 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(data[i:])
		if !printableInYAML(r) {
			out = append(append(out, data[done:i]...), '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
			done = i + n
		}
		i += n
	}
	if done == 0 {
		return data
	}
	return append(out, data[done:]...)
}

// printableInYAML tells of characters beyond ASCII's printable ones whether they may stand in a YAML document as they are:
// not control characters, line breaks, byte order marks, and what is no character.
func printableInYAML(r rune) bool {
	switch r {
	case 0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff:
		return false
	}
	return r >= 0xa0
}
