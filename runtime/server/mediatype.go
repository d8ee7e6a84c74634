package server

import (
	"fmt"
	"slices"
	"strings"

	"apigen.dev/runtime/internal/verb"
)

// storageMediaTypes are the values of --storage-media-type, by encoding. kube-apiserver has application/yaml, too.
var storageMediaTypes = []string{verb.JSON: "application/json", verb.Protobuf: "application/vnd.kubernetes.protobuf"}

func mediaTypes() []string {
	return slices.DeleteFunc(slices.Clone(storageMediaTypes), func(name string) bool { return name == "" })
}

// mediaTypeFlag is an encoding as the value of --storage-media-type.
type mediaTypeFlag struct{ encoding *verb.Encoding }

func (f mediaTypeFlag) String() string {
	if f.encoding == nil {
		return ""
	}
	return storageMediaTypes[*f.encoding]
}

func (f mediaTypeFlag) Set(value string) error {
	encoding := slices.Index(storageMediaTypes, value)
	if encoding < 0 || value == "" {
		return fmt.Errorf("it must be %s", strings.Join(mediaTypes(), " or "))
	}
	*f.encoding = verb.Encoding(encoding)
	return nil
}

func (f mediaTypeFlag) Type() string { return "string" }
