package cache

import (
	"errors"
	"sync/atomic"
	"testing"

	"apigen.dev/runtime/internal/verb"
)

// keyed is a codec that fails until it has its key.
type keyed struct {
	toyCodec
	key atomic.Bool
}

func (k *keyed) Decode(key string, value []byte, revision int64) (Record, error) {
	if !k.key.Load() {
		return Record{}, errors.New("no key")
	}
	return k.toyCodec.Decode(key, value, revision)
}

func (k *keyed) Render(key string, stored verb.Rendition, form verb.Form) (verb.Rendition, error) {
	return k.toyCodec.Render(key, stored, form)
}

// After a restart all was decoded again, and who follows the old history must begin anew.
func TestRestart(t *testing.T) {
	f := newFake()
	f.put("color=red", toys+"a/1", toys+"a/2")
	codec := &keyed{}
	config := toyConfig(f)
	config.Codec = codec
	c := start(t, config)
	s, err := c.Current()
	if err != nil || s.Corrupt(toys) == nil {
		t.Fatalf("%v %v", s, err)
	}
	w, err := c.Watch(toys, nil, s.Revision(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	codec.key.Store(true)
	why := errors.New("the key has come")
	c.Restart(why)
	if _, err := w.Next(t.Context()); !errors.Is(err, ErrExpired) || !errors.Is(err, why) {
		t.Errorf("the cursor returned %v", err)
	}
	if _, err := c.Current(); err != nil {
		t.Errorf("meanwhile: %v", err)
	}
	eventually(t, func() bool {
		s, err := c.Current()
		return err == nil && s.Corrupt(toys) == nil && s.Count(toys, "") == 2
	})
	eventually(t, func() bool { return c.Ready() == nil })
}

// A cache that was not filled yet has nothing to begin anew.
func TestRestartOfNothing(t *testing.T) {
	New(toyConfig(newFake())).Restart(errors.New("why"))
}
