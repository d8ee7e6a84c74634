package encoder

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestFramesKeepEveryByte writes pieces of all sizes, around the frame's own and beyond.
func TestFramesKeepEveryByte(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var out, want bytes.Buffer
		f := &Frame{out: &out, buf: make([]byte, 0, 64)}
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
				want.WriteString("<unknown>")
			}
		}
		f.Flush()
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
	f := &Frame{out: out, buf: make([]byte, 0, 64)}
	for range 100 {
		f.text(strings.Repeat("x", 100))
	}
	if f.Flush(); out.writes != 1 || f.err == nil {
		t.Errorf("%d writes, %v", out.writes, f.err)
	}
}
