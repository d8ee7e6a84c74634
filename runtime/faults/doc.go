// Package faults has no code of its own: its tests run servers and etcd as processes, kill, halt and restart them under
// load, and hold what all clients saw against what etcd's log says. It is a module of its own, for its checker.
//
// What is checked of every run:
//
//   - reads and writes of every object are linearizable, by github.com/anishathalye/porcupine (history_test.go);
//   - what was answered 2xx is in the log at the revision that was answered, what was answered 503, 409 or another 4xx
//     is not, and nothing is in it twice (history_test.go);
//   - every list is the state at its revision, and one that was asked to be consistent is not older than what was
//     answered before (list_test.go);
//   - a watch tells what the log has, once and in order, across resumption by another server (watch_test.go).
//
// Servers check themselves meanwhile: APIGEN_VERIFY turns on their invariants, and each cache is compared with etcd
// every second; a difference ends the server, and with it the test. They compact etcd, too.
//
// The log is read from etcd by a watch of its own (truth_test.go); unknown outcomes are known by it in the end.
//
// The server is built by the tests, which go's cache of test results doesn't know: run them with -count=1.
//
// Each trouble of a scenario is made at least once; APIGEN_FAULTS=10m goes on with them for as long.
//
// The soak (soak_test.go) has many more clients, who make requests at a steady rate, and churn of definitions and
// bindings (soak_churn_test.go). It draws its troubles at random. After each round the replicas rest, and what they
// keep is compared from rest to rest (soak_judge_test.go). APIGEN_SOAK=30m says how long it goes on;
// APIGEN_SOAK_SEED repeats the draw of troubles and requests, though not their timing.
package faults
