// Package rules evaluates rules and dashboards of Prometheus on the metrics of servers: kube-prometheus' rules about
// kube-apiserver, and those of docs/observability. It has Prometheus' own engine do it, on samples that it scrapes from
// a calm server and from one that has troubles, and that it dates a scrape interval apart, so that no test waits.
package rules
