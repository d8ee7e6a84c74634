// Package flow holds the machine of runtime/internal/flow against k8s.io/apiserver's: both go through the same
// scenarios under the same clock. It also compares what a server begins with, and the names of all metrics.
package flow
