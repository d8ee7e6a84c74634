package validation_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/operation"
)

// TestAgreement: on objects made at random, the checks in Go and the schema agree.
func TestAgreement(t *testing.T) {
	validator := schemaValidator(t)
	random := rand.New(rand.NewSource(1))
	pick := func(values ...string) string { return values[random.Intn(len(values))] }
	number := func(least, most int) func() string {
		return func() string {
			for {
				if n := least + random.Intn(most-least+1); n != 0 { // zero is nothing
					return fmt.Sprint(n)
				}
			}
		}
	}
	text := func(letters string) func() string {
		return func() string {
			var s strings.Builder
			for range 1 + random.Intn(7) {
				runes := []rune(letters)
				s.WriteRune(runes[random.Intn(len(runes))])
			}
			data, err := json.Marshal(s.String())
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
	}
	list := func(element func() string) func() string {
		return func() string {
			var elements []string
			for range random.Intn(5) {
				elements = append(elements, element())
			}
			return "[" + strings.Join(elements, ",") + "]"
		}
	}
	object := func(value func() string) func() string {
		return func() string {
			members := map[string]json.RawMessage{}
			for range random.Intn(5) {
				members[pick("a", "b", "c", "d")] = json.RawMessage(value())
			}
			data, err := json.Marshal(members)
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
	}
	fields := map[string]func() string{
		"crd.bounded": number(-3, 12), "crd.between": number(-3, 12), "crd.fives": number(1, 20),
		"crd.power": number(-1, 5),
		"crd.ratio": func() string { return fmt.Sprint(float64(random.Intn(300)) / 100) },
		"crd.text":  text("aä𝒳"), "crd.pattern": text("ab12"), "crd.inherited": text("é"),
		"crd.size":    func() string { return pick(`"small"`, `"large"`, `"Large"`, `"other"`) },
		"crd.list":    list(func() string { return pick(`"a"`, `"b"`, `"long"`, `"d"`) }),
		"crd.uniques": list(number(-2, 2)),
		"crd.counts":  object(number(-2, 3)),
		"crd.bundle": func() string {
			return pick(`{"from":""}`, `{"from":"","paper":"a","length":2}`, `{"from":"","paper":"a","loose":true}`,
				`{"from":"","paper":"a","length":2,"loose":true}`,
				`{"from":"1.2.3.4","paper":"a","length":1,"loose":true}`)
		},
		"crd.nested": list(list(func() string { return pick(`"Low"`, `"High"`, `"low"`) })),
		"crd.share":  func() string { return pick(`"1%"`, `"%"`, `1`, `-1`, `7`) },
		"crd.ipv4":   func() string { return pick(`"1.2.3.4"`, `"1.2.3"`, `"256.1.1.1"`, `"::1"`, `"x"`) },
		"crd.cidr":   func() string { return pick(`"1.2.3.4/8"`, `"1.2.3.4"`, `"fd00::/8"`, `"1.2.3.4/33"`) },
		"crd.dateTime": func() string {
			return pick(`"2026-02-28T10:00:00Z"`, `"2026-02-28T10:00:00.5+01:00"`, `"2026-02-28"`,
				`"2026-13-01T00:00:00Z"`)
		},
		"declarative.bounded": number(-3, 12), "declarative.text": text("aä𝒳"),
		"declarative.map":   object(number(-2, 3)),
		"declarative.name":  text("a-"),
		"declarative.color": func() string { return pick(`"Red"`, `"Black"`, `"Green"`, `"red"`) },
	}
	rejected := 0
	for at, value := range fields {
		for range 200 {
			v := value()
			o := with(t, at, v)
			errs, result := check(t, operation.Create, o, nil), validator.Validate(o)
			if (len(errs) > 0) == result.IsValid() {
				t.Errorf("%s=%s: Go says %q, the schema %v", at, v, errs, result.Errors)
			}
			if len(errs) > 0 {
				rejected++
			}
		}
	}
	if all := 200 * len(fields); rejected < all/5 || rejected > all*4/5 {
		t.Errorf("%d of %d objects were rejected", rejected, all)
	}
}
