package subresource_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/subresource"
)

func TestQueryValue(t *testing.T) {
	query := url.Values{"lines": {"7", "8"}, "big": {"300"}, "follow": {""}, "off": {"False"}, "zero": {"0"}}
	lines := int32(1)
	if err := subresource.QueryValue(query, "lines", subresource.QueryInt[int32], &lines); err != nil || lines != 7 {
		t.Errorf("the first value counts: got %d, %v", lines, err)
	}
	if err := subresource.QueryValue(query, "none", subresource.QueryInt[int32], &lines); err != nil || lines != 7 {
		t.Errorf("without a value the default stays: got %d, %v", lines, err)
	}
	small := int8(1)
	err := subresource.QueryValue(query, "big", subresource.QueryInt[int8], &small)
	if err == nil || small != 1 || !strings.HasPrefix(err.Error(), `the value "300" of parameter "big": `) {
		t.Errorf("300 is no int8: got %d, %v", small, err)
	}
	for name, want := range map[string]bool{"follow": true, "lines": true, "off": false, "zero": false} {
		got := !want
		if err := subresource.QueryValue(query, name, subresource.QueryBool[bool], &got); err != nil || got != want {
			t.Errorf("%s=%q: got %v, %v, want %v", name, query[name], got, err, want)
		}
	}
}

func TestQueryPointer(t *testing.T) {
	query := url.Values{"lines": {"0"}, "bad": {"x"}}
	var lines, none, bad *int64
	if err := subresource.QueryPointer(query, "lines", subresource.QueryInt[int64], &lines); err != nil ||
		lines == nil || *lines != 0 {
		t.Errorf("a zero that was sent is not absent: got %v, %v", lines, err)
	}
	if err := subresource.QueryPointer(query, "none", subresource.QueryInt[int64], &none); err != nil || none != nil {
		t.Errorf("got %v, %v for a parameter that was not sent", none, err)
	}
	if err := subresource.QueryPointer(query, "bad", subresource.QueryInt[int64], &bad); err == nil || bad != nil {
		t.Errorf("got %v, %v for a value that is no number", bad, err)
	}
}

func TestQueryValues(t *testing.T) {
	query := url.Values{"command": {"ls", "-l"}, "port": {"80", "x"}}
	var command []string
	err := subresource.QueryValues(query, "command", subresource.QueryText[string], &command)
	if err != nil || !slices.Equal(command, []string{"ls", "-l"}) {
		t.Errorf("got %q, %v", command, err)
	}
	var ports []int32
	if err := subresource.QueryValues(query, "port", subresource.QueryInt[int32], &ports); err == nil ||
		!strings.Contains(err.Error(), `"x"`) {
		t.Errorf("the error names the value at fault: got %v", err)
	}
}
