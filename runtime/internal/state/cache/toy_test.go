package cache

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/internal/verb"
	"k8s.io/apimachinery/pkg/labels"
)

var _ labels.Labels = LabelSet{}

const toys = "/registry/toys/"

// colorField is the place of the one field that toys have beyond name and namespace: their label "color".
const colorField = 2

var (
	toyForm  = verb.Form{Version: "v1"}
	otherOne = verb.Form{Version: "v2"}
	// agedOne has two holes.
	agedOne = verb.Form{Version: "aged", Shape: verb.Row}
)

const toyHead = `"kind":"Toy",`

// toyCodec reads values such as "color=red,size=2|anything": labels and data. A value "bad" can't be decoded, and data
// "unrenderable" has no other form.
type toyCodec struct{ rendered atomic.Int64 }

func (*toyCodec) Decode(key string, value []byte, revision int64) (Record, error) {
	text := string(value)
	switch text {
	case "bad":
		return Record{}, errors.New("not a toy")
	case "panic":
		panic("a hook of the user's")
	}
	selectable, data, _ := strings.Cut(text, "|")
	r := Record{Labels: map[string]string{}, Stale: data == "stale"}
	for _, pair := range strings.Split(selectable, ",") {
		if name, value, found := strings.Cut(pair, "="); found {
			r.Labels[name] = value
		}
	}
	rel := strings.TrimPrefix(key, toys)
	namespace, name, found := strings.Cut(rel, "/")
	if !found {
		namespace, name = "", rel
	}
	r.Fields = []string{name, namespace, r.Labels["color"]}
	r.Rendition = toyRendition(text, revision)
	return r, nil
}

func toyRendition(text string, revision int64) verb.Rendition {
	const before = `"rv":"`
	version := strconv.FormatInt(revision, 10)
	return verb.Rendition{
		Head:       toyHead,
		Payload:    fmt.Appendf(nil, `%s%s","data":%q}`, before, version, text),
		VersionAt:  uint32(len(before)),
		VersionLen: uint32(len(version)),
	}
}

func (c *toyCodec) Render(key string, stored verb.Rendition, form verb.Form) (verb.Rendition, error) {
	c.rendered.Add(1)
	if strings.Contains(string(stored.Payload), "unrenderable") {
		return verb.Rendition{}, errors.New("no such form")
	}
	stored.Head = `"form":"` + form.Version + `",`
	stored.Payload = append([]byte(nil), stored.Payload...)
	if form == agedOne {
		since := time.Unix(int64(len(stored.Payload)), 0)
		stored.Holes = []verb.Hole{{At: stored.VersionAt, Since: since},
			{At: uint32(len(stored.Payload)) - 1, Since: since.Add(time.Second)}}
	}
	return stored, nil
}

func (*toyCodec) Join(list []byte, r *verb.Rendition, form verb.Form) []byte {
	return append(append(append(list, ";{"...), r.Head...), r.Payload...)
}

func (*toyCodec) Separator(verb.Form) string { return ";" }

// AppendAge appends the tens of seconds since then.
func (*toyCodec) AppendAge(row []byte, since, now time.Time) ([]byte, time.Time) {
	const ten = 10 * time.Second
	age := now.Sub(since).Truncate(ten)
	return fmt.Appendf(row, "<%d>", age/ten), since.Add(age + ten)
}

func (*toyCodec) Restamp(r verb.Rendition, revision int64) verb.Rendition {
	version := strconv.FormatInt(revision, 10)
	at, end := r.VersionAt, r.VersionAt+r.VersionLen
	r.Payload = []byte(string(r.Payload[:at]) + version + string(r.Payload[end:]))
	r.VersionLen = uint32(len(version))
	return r
}

// text is the stored rendition of an entry, as a client would see it.
func text(t testing.TB, e *Entry) string {
	t.Helper()
	r, err := e.Rendition(toyForm)
	if err != nil {
		return err.Error()
	}
	return "{" + r.Head + string(r.Payload)
}

// toyConfig is the configuration of tests: everything that can be checked is.
func toyConfig(f *fake) Config {
	return Config{
		Backend: f, Prefix: toys, Codec: &toyCodec{}, Stored: toyForm, Name: "toys", Indexed: []int{colorField},
		Backoff: noPause,
		Cold:    5 * time.Millisecond,
		Verify:  true,
	}
}

// start runs a cache until the test ends, and returns it when it is ready.
func start(t testing.TB, config Config) *Cache {
	t.Helper()
	c := New(config)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	eventually(t, func() bool { return c.Ready() == nil })
	return c
}

// eventually waits for a condition.
func eventually(t testing.TB, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.After(2 * time.Minute)
	for !condition() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("what was waited for has not come in two minutes")
		}
	}
}
