package main

import "testing"

// TestPairs: the servers of a pair have files and columns of their own, and a client whose certificate is issued.
func TestPairs(t *testing.T) {
	for name, servers := range pairs {
		both, err := servers(&authority{dir: t.TempDir()})
		if err != nil || len(both) != 2 {
			t.Fatalf("%s: %d servers, %v", name, len(both), err)
		}
		if both[0].name == both[1].name || both[0].title == both[1].title {
			t.Errorf("%s: both are called %s and %s", name, both[0].name, both[0].title)
		}
		for _, s := range both {
			if s.client != "admin" && s.client != "tester" {
				t.Errorf("%s: nobody issues the certificate %s", name, s.client)
			}
		}
	}
}
