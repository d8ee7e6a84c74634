package registry

import (
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
)

// The rules for names that apimachinery has no function for. Each is a function for Strategy.ValidateName;
// validation.NameIsDNSSubdomain, NameIsDNSLabel and NameIsDNS1035Label of apimachinery are others.

// AnyName accepts every name: that it fits into a URL is checked of all names.
func AnyName(string, bool) []string { return nil }

// NameIsPathSegment returns why a name can't stand between two slashes of a URL. It judges the prefix of a generated
// name as a name, as kube-apiserver does for roles: "." is none.
func NameIsPathSegment(name string, _ bool) []string { return content.IsPathSegmentName(name) }

// NameIsIP returns why a name is not an IP address in canonical form. It judges the prefix of a generated name as a
// name.
func NameIsIP(name string, _ bool) []string {
	var messages []string
	for _, fault := range validation.IsValidIP(nil, name) {
		messages = append(messages, fault.Detail)
	}
	return messages
}
