package wardle

import "k8s.io/apimachinery/pkg/runtime/schema"

func groupVersion(version string) schema.GroupVersion {
	return schema.GroupVersion{Group: "wardle.example.com", Version: version}
}
