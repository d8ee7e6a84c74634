package endpoint

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/api"
)

// TestFramesKeepEveryByte writes pieces of all sizes, around the frame's own and beyond.
func TestFramesKeepEveryByte(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var out, want bytes.Buffer
		f := &frame{out: &out, buf: make([]byte, 0, 64)}
		for range 50 {
			piece := strings.Repeat(string(rune('a'+random.IntN(26))), random.IntN(200))
			switch random.IntN(3) {
			case 0:
				f.text(piece)
				want.WriteString(piece)
			case 1:
				f.bytes([]byte(piece))
				want.WriteString(piece)
			default:
				f.age(time.Time{}, time.Time{})
				want.WriteString(`"<unknown>"`)
			}
		}
		f.flush()
		if !bytes.Equal(out.Bytes(), want.Bytes()) {
			t.Fatalf("%d bytes of %d", out.Len(), want.Len())
		}
	}
}

// broken is a connection whose client went away.
type broken struct{ writes int }

func (b *broken) Write([]byte) (int, error) { b.writes++; return 0, errors.New("gone") }

func TestFramesStopAtTheFirstError(t *testing.T) {
	out := &broken{}
	f := &frame{out: out, buf: make([]byte, 0, 64)}
	for range 100 {
		f.text(strings.Repeat("x", 100))
	}
	if f.flush(); out.writes != 1 || f.err == nil {
		t.Errorf("%d writes, %v", out.writes, f.err)
	}
}

func TestObjectsLargerThanAFrame(t *testing.T) {
	a, fakes := serve(t, widgets)
	fakes[0].object = rendered(api.Form{}, strings.Repeat("x", 3*frameSize), 7)
	w := do(a, "GET", itemPath, "")
	if want := "{" + fakes[0].object.Head + string(fakes[0].object.Payload) + "\n"; w.Body.String() != want {
		t.Errorf("%d bytes, want %d", w.Body.Len(), len(want))
	}
}

func TestReportsOfManyFaultsAreBounded(t *testing.T) {
	a, _ := serve(t, widgets)
	body := strings.Repeat("a: 1\n", 20000)
	for _, validation := range []string{"Strict", "Warn"} {
		w := do(a, "POST", collectionPath+"?fieldValidation="+validation, body, "Content-Type", "application/yaml")
		if w.Body.Len() > 2*maxReport || len(w.Header()["Warning"]) > maxWarnings {
			t.Errorf("%s: %d bytes, %d warnings", validation, w.Body.Len(), len(w.Header()["Warning"]))
		}
	}
}
