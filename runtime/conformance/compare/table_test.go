package main

import "testing"

func TestLine(t *testing.T) {
	for _, test := range []struct {
		m    measurement
		want string
	}{
		{measurement{{0.112, 0.0108}, {0.1, 0.011}, {0.13, 0.0105}},
			"| LIST | 112 ms | 10.8 ms | 1/10 | 1/12 to 1/9.1 |"},
		{measurement{{0.0006, 0.0003}, {0.0004, 0.0001}}, "| LIST | 0.50 ms | 0.20 ms | 1/2.5 | 1/4 to 1/2 |"},
		{measurement{{0.00002, 0.00004}}, "| LIST | 20 µs | 40 µs | 2.0 | 2.0 |"},
		{measurement{{0.02, 0}}, "| LIST | 20.0 ms | 0 µs | ? | ? |"},
	} {
		if got := test.m.line("LIST", duration); got != test.want {
			t.Errorf("%v:\n%s\nwant\n%s", test.m, got, test.want)
		}
	}
}

// TestParseStat: the name of a command may look like fields.
func TestParseStat(t *testing.T) {
	got, err := parseStat([]byte("7 (a) R 99) S 1 7 7 0 -1 4194560 900 0 3 0 250 31 0 0 20 0 9 0 12345 0\n"))
	if err != nil || got != 2.81 {
		t.Errorf("%v s, %v", got, err)
	}
	if got, err := parseStat([]byte("7 (a) S 1 7")); err == nil {
		t.Errorf("half a line: %v s", got)
	}
}

// TestWritesOnce: no object is updated twice in a round, which would be a conflict.
func TestWritesOnce(t *testing.T) {
	r := row{operations: 2000}
	for _, o := range []options{
		{objects: 100, clients: 50, scale: 100}, {objects: 7919, clients: 1, scale: 900},
		{objects: 10000, clients: 4, scale: 100},
	} {
		turn, seen := turn{server: &server{}, options: o}, map[string]bool{}
		for i := range r.count(o) + r.warm(o) {
			if url := turn.object(i); seen[url] {
				t.Fatalf("%+v: operation %d writes an object again", o, i)
			} else {
				seen[url] = true
			}
		}
	}
}

func TestCount(t *testing.T) {
	lists, reads, writes := row{operations: 30, all: true}, row{operations: 5000, reads: true}, row{operations: 2000}
	for _, test := range []struct {
		row            row
		objects, scale int
		want           int
	}{
		{lists, 10000, 100, 30}, {lists, 2000, 100, 150}, {lists, 10000, 1, 1},
		{reads, 10000, 100, 5000}, {reads, 2000, 400, 20000},
		{writes, 10000, 100, 2000}, {writes, 2000, 100, 1000}, {writes, 10000, 10, 200},
	} {
		if got := test.row.count(options{objects: test.objects, scale: test.scale}); got != test.want {
			t.Errorf("%+v: %d operations", test, got)
		}
	}
}
