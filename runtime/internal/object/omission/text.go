package omission

import (
	"encoding/json"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// scanText returns a text or number in data, if its type writes it in another form.
func (z *Zeros) scanText(data []byte, at, end int) *SentZeros {
	if end < 0 || z.isCanonicalTime(data[at:end]) {
		return nil
	}
	raw := data[at:end]
	switch c := raw[0]; {
	case c == '"':
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return nil
		}
		raw = appendText(nil, text)
	case c != '-' && (c < '0' || c > '9'):
		return nil
	}
	v := reflect.New(z.text)
	if json.Unmarshal(raw, v.Interface()) != nil {
		return nil
	}
	canonical, err := json.Marshal(v.Interface())
	if err != nil || string(canonical) == string(raw) || canonical[0] == '{' || canonical[0] == '[' {
		return nil
	}
	return &SentZeros{Text: string(raw), Canonical: string(canonical)}
}

// isCanonicalTime reports whether JSON is a time as metav1.Time writes it, which most are.
func (z *Zeros) isCanonicalTime(raw []byte) bool {
	const usual = `"2006-01-02T15:04:05Z"`
	if z.text != reflect.TypeFor[metav1.Time]() || len(raw) != len(usual) {
		return false
	}
	for i, c := range raw {
		if u := usual[i]; isDigit(c) != isDigit(u) || !isDigit(c) && c != u {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// heldText returns what was sent, if the Go value still says the same.
func (z *Zeros) heldText(v reflect.Value, sent *SentZeros) *SentZeros {
	if sent.Text == "" || v.Type() != z.text {
		return nil
	}
	same := reflect.New(z.text)
	same.Elem().Set(v)
	if canonical, err := json.Marshal(same.Interface()); err != nil || string(canonical) != sent.Canonical {
		return nil
	}
	return sent
}

// textOf returns the text that was sent, in place of a value that says the same in another form.
func (s *SentZeros) textOf(v value.Value) value.Value {
	if s == nil || s.Text == "" || !value.Equals(v, decoded([]byte(s.Canonical))) {
		return v
	}
	return decoded([]byte(s.Text))
}

// decoded returns JSON as a value; nil if it isn't JSON.
func decoded(data []byte) value.Value {
	var v any
	if kjson.UnmarshalCaseSensitivePreserveInts(data, &v) != nil {
		return nil
	}
	return value.NewValueInterface(v)
}
