package policy

import (
	"strings"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// structs gives types to the variables whose fields are known, beside those that CEL has. Their values are maps.
type structs struct {
	types.Provider
	of map[string]map[string]*celgo.Type
	// mutation adds the types that expressions of mutations make values of.
	mutation bool
}

// FindStructType implements types.Provider.
func (s *structs) FindStructType(name string) (*types.Type, bool) {
	if s.of[name] != nil || s.mutation && isMutationType(name) {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return s.Provider.FindStructType(name)
}

// FindIdent implements types.Provider: a type's name is an identifier.
func (s *structs) FindIdent(name string) (ref.Val, bool) {
	if s.mutation && isMutationType(name) {
		return types.NewObjectType(name), true
	}
	return s.Provider.FindIdent(name)
}

// FindStructFieldNames implements types.Provider.
func (s *structs) FindStructFieldNames(name string) ([]string, bool) {
	if fields := s.of[name]; fields != nil {
		names := make([]string, 0, len(fields))
		for field := range fields {
			names = append(names, field)
		}
		return names, true
	}
	if s.mutation && isMutationType(name) {
		if name == patchTypeName {
			return []string{"op", "from", "path", "value"}, true
		}
		return nil, true
	}
	return s.Provider.FindStructFieldNames(name)
}

// FindStructFieldType implements types.Provider.
func (s *structs) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	if fields := s.of[name]; fields != nil {
		typ := fields[field]
		return &types.FieldType{Type: typ}, typ != nil
	}
	if s.mutation && isMutationType(name) {
		return mutationField(name, field)
	}
	return s.Provider.FindStructFieldType(name, field)
}

// NewValue implements types.Provider.
func (s *structs) NewValue(name string, fields map[string]ref.Val) ref.Val {
	if s.mutation && isMutationType(name) {
		return newMutationValue(name, fields)
	}
	return s.Provider.NewValue(name, fields)
}

const (
	objectTypeName = "Object"
	patchTypeName  = "JSONPatch"
)

// isMutationType reports whether a name is JSONPatch, or Object followed by the path of a field: Object.spec.template.
func isMutationType(name string) bool {
	return name == patchTypeName || name == objectTypeName || strings.HasPrefix(name, objectTypeName+".")
}

var (
	texts     = celgo.ListType(celgo.StringType)
	textByKey = celgo.MapType(celgo.StringType, celgo.StringType)
)

// declaredTypes are the fields of the variables request and namespaceObject.
var declaredTypes = map[string]map[string]*celgo.Type{
	"kubernetes.AdmissionRequest": {
		"kind":        celgo.ObjectType("kubernetes.GroupVersionKind"),
		"resource":    celgo.ObjectType("kubernetes.GroupVersionResource"),
		"subResource": celgo.StringType, "requestKind": celgo.ObjectType("kubernetes.GroupVersionKind"),
		"requestResource":    celgo.ObjectType("kubernetes.GroupVersionResource"),
		"requestSubResource": celgo.StringType, "name": celgo.StringType, "namespace": celgo.StringType,
		"operation": celgo.StringType, "userInfo": celgo.ObjectType("kubernetes.UserInfo"), "dryRun": celgo.BoolType,
		"options": celgo.DynType,
	},
	"kubernetes.GroupVersionKind": {
		"group": celgo.StringType, "version": celgo.StringType, "kind": celgo.StringType,
	},
	"kubernetes.GroupVersionResource": {
		"group": celgo.StringType, "version": celgo.StringType, "resource": celgo.StringType,
	},
	"kubernetes.UserInfo": {
		"username": celgo.StringType, "uid": celgo.StringType, "groups": texts,
		"extra": celgo.MapType(celgo.StringType, texts),
	},
	"kubernetes.Namespace": {
		"metadata": celgo.ObjectType("kubernetes.NamespaceMetadata"),
		"spec":     celgo.ObjectType("kubernetes.NamespaceSpec"),
		"status":   celgo.ObjectType("kubernetes.NamespaceStatus"),
	},
	"kubernetes.NamespaceMetadata": {
		"name": celgo.StringType, "generateName": celgo.StringType, "namespace": celgo.StringType, "labels": textByKey,
		"annotations": textByKey, "UID": celgo.StringType, "creationTimestamp": celgo.TimestampType,
		"deletionGracePeriodSeconds": celgo.IntType, "deletionTimestamp": celgo.TimestampType,
		"generation": celgo.IntType, "resourceVersion": celgo.StringType, "finalizers": texts,
	},
	"kubernetes.NamespaceSpec": {"finalizers": texts},
	"kubernetes.NamespaceStatus": {
		"conditions": celgo.ListType(celgo.ObjectType("kubernetes.NamespaceCondition")), "phase": celgo.StringType,
	},
	"kubernetes.NamespaceCondition": {
		"status": celgo.StringType, "type": celgo.StringType, "lastTransitionTime": celgo.TimestampType,
		"message": celgo.StringType, "reason": celgo.StringType,
	},
}
