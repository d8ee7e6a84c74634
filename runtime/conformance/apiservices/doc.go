// Package apiservices holds our kind APIService against the original of k8s.io/kube-aggregator: JSON, schema, defaults,
// preparation, validation, columns and order.
package apiservices
