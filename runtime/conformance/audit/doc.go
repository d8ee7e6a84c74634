// Package audit holds events and policies of audit, and the pages of package zpages, against k8s.io/apiserver's.
package audit
