package encryption

import (
	"bytes"
	"strings"
	"testing"
)

const etcdKey = "/registry/shop.example.com/widgets/ns/a"

var value = []byte(`{"kind":"Widget","apiVersion":"shop.example.com/v1","metadata":{"name":"a"}}` + "\n")

func mustSeal(t testing.TB, c *Chain, plain []byte) []byte {
	t.Helper()
	stored, err := c.Seal(etcdKey, plain)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// Every provider opens what it sealed, and no value is sealed alike twice.
func TestRoundTrip(t *testing.T) {
	for provider, prefix := range map[string]string{
		keys("aesgcm", "a", secret32):     "k8s:enc:aesgcm:v1:a:",
		keys("aesgcm", "'b:c'", secret16): "k8s:enc:aesgcm:v1:b:c:",
		keys("secretbox", "d", secret32):  "k8s:enc:secretbox:v1:d:",
		keys("aescbc", "e", secret16):     "k8s:enc:aescbc:v1:e:",
		"identity: {}":                    "{",
	} {
		c := mustParse(t, rules(provider)).For(widgets)
		for _, size := range []int{2, 15, 16, 17, len(value)} {
			plain := value[:size]
			stored := mustSeal(t, c, plain)
			if !bytes.HasPrefix(stored, []byte(prefix)) {
				t.Errorf("%s: %q", provider, stored)
			}
			before := bytes.Clone(stored)
			got, stale, err := c.Open(etcdKey, stored)
			if err != nil || stale || !bytes.Equal(got, plain) || !bytes.Equal(stored, before) {
				t.Errorf("%s: %q %v %v", provider, got, stale, err)
			}
			if prefix != "{" && bytes.Equal(stored, mustSeal(t, c, plain)) {
				t.Errorf("%s: sealed alike twice", provider)
			}
		}
	}
}

// Rotation: a new key is added behind, then put in front, and the old one goes once all was written again.
func TestRotation(t *testing.T) {
	first := mustParse(t, rules(keys("aesgcm", "old", secret32), "identity: {}")).For(widgets)
	both := mustParse(t, rules(keys("aesgcm", "new", other32, "old", secret32), "identity: {}")).For(widgets)
	done := mustParse(t, rules(keys("aesgcm", "new", other32))).For(widgets)
	old := mustSeal(t, first, value)
	for name, test := range map[string]struct {
		stored []byte
		chain  *Chain
		stale  bool
		err    string
	}{
		"clear, to be encrypted":   {value, first, true, ""},
		"old key, still the first": {old, first, false, ""},
		"old key, one before it":   {old, both, true, ""},
		"old key, gone": {old, done, false,
			`the value was encrypted with aesgcm key "old", and the encryption configuration has only aesgcm key ` +
				`"new" for this resource`},
		"new key": {mustSeal(t, both, value), done, false, ""},
		"clear, where nothing is": {value, done, false,
			"the value is not encrypted, and the encryption configuration has only"},
		"encrypted, where nothing is": {old, plain, false,
			`the value was encrypted with aesgcm key "old", and the encryption configuration has only identity`},
		"back to the clear, first step": {old, mustParse(t,
			rules("identity: {}", keys("aesgcm", "old", secret32))).For(widgets), true, ""},
	} {
		got, stale, err := test.chain.Open(etcdKey, test.stored)
		switch {
		case test.err == "" && (err != nil || stale != test.stale || !bytes.Equal(got, value)):
			t.Errorf("%s: %q %v %v", name, got, stale, err)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("%s: %v, want %s", name, err, test.err)
		}
	}
}

// Two keys of one name are tried both, as kube-apiserver does.
func TestSameName(t *testing.T) {
	old := mustSeal(t, mustParse(t, rules(keys("secretbox", "k", secret32))).For(widgets), value)
	c := mustParse(t, rules(keys("secretbox", "k", other32), keys("secretbox", "k", secret32))).For(widgets)
	if got, stale, err := c.Open(etcdKey, old); err != nil || !stale || !bytes.Equal(got, value) {
		t.Errorf("%q %v %v", got, stale, err)
	}
}

// A value that was changed, moved to another key, or sealed with another secret of the same name is refused by name.
func TestTampering(t *testing.T) {
	for _, provider := range []string{"aesgcm", "secretbox"} {
		c := mustParse(t, rules(keys(provider, "k", secret32))).For(widgets)
		wrong := mustParse(t, rules(keys(provider, "k", other32))).For(widgets)
		stored := mustSeal(t, c, value)
		want := provider + ` key "k" does not open it`
		if _, _, err := wrong.Open(etcdKey, stored); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: wrong secret: %v", provider, err)
		}
		for i := len("k8s:enc:" + provider + ":v1:k:"); i < len(stored); i++ {
			bent := bytes.Clone(stored)
			bent[i] ^= 1
			if _, _, err := c.Open(etcdKey, bent); err == nil {
				t.Fatalf("%s: byte %d was changed", provider, i)
			}
			if _, _, err := c.Open(etcdKey, stored[:i]); err == nil {
				t.Fatalf("%s: cut at %d", provider, i)
			}
		}
	}
	c := mustParse(t, rules(keys("aesgcm", "k", secret32))).For(widgets)
	if _, _, err := c.Open(etcdKey+"b", mustSeal(t, c, value)); err == nil {
		t.Error("a value was moved to another key")
	}
}

func TestCutCBC(t *testing.T) {
	c := mustParse(t, rules(keys("aescbc", "k", secret32))).For(widgets)
	stored := mustSeal(t, c, value)
	for i := range stored {
		if got, _, err := c.Open(etcdKey, stored[:i]); err == nil && bytes.Equal(got, value) {
			t.Errorf("cut at %d", i)
		}
	}
}

func TestUnknownProvider(t *testing.T) {
	c := mustParse(t, rules("identity: {}")).For(widgets)
	for stored, want := range map[string]string{
		"k8s:enc:kms:v2:cloud:\x00\x01": `the value was encrypted with kms key "cloud"`,
		"k8s:enc:":                      "the value begins as an encrypted one and is none",
		"k8s:enc:\x1b[2J:v1:\x1b:":      `encrypted with [2J key "\x1b"`,
	} {
		if _, _, err := c.Open(etcdKey, []byte(stored)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", stored, err)
		}
	}
}

// Whatever is stored, Open neither panics nor changes it, and only identity takes what it didn't seal.
func FuzzOpen(f *testing.F) {
	all := mustParse(f, rules(keys("aesgcm", "a", secret32), keys("secretbox", "b", secret32),
		keys("aescbc", "c", secret32), "identity: {}")).For(widgets)
	for i := range all.links {
		c := &Chain{links: all.links[i : i+1]}
		f.Add(mustSeal(f, c, value))
		f.Add([]byte(all.links[i].prefix))
	}
	f.Fuzz(func(t *testing.T, stored []byte) {
		before := bytes.Clone(stored)
		plain, stale, err := all.Open(etcdKey, stored)
		if !bytes.Equal(stored, before) {
			t.Fatal("Open changed what it was given")
		}
		if err != nil {
			if plain != nil || stale {
				t.Fatalf("%q %v %v", plain, stale, err)
			}
			return
		}
		if again, stale, err := all.Open(etcdKey, mustSeal(t, all, plain)); err != nil || stale ||
			!bytes.Equal(again, plain) {
			t.Fatalf("%q %v %v", again, stale, err)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	for name, provider := range map[string]string{"aesgcm": keys("aesgcm", "a", secret32),
		"secretbox": keys("secretbox", "a", secret32)} {
		b.Run(name, func(b *testing.B) {
			c := mustParse(b, rules(provider)).For(widgets)
			stored := mustSeal(b, c, bytes.Repeat([]byte("0123456789abcdef"), 64))
			b.SetBytes(1024)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := c.Open(etcdKey, stored); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
