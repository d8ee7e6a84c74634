package openapi

// scaleName begins the names of the schemas of autoscaling/v1 Scale, as in kube-apiserver.
const scaleName = "io.k8s.api.autoscaling.v1.Scale"

var scaleKind = gvk("autoscaling", "v1", "Scale")

// scaleRef refers to the schema of Scale, which is the runtime's own.
func (b *builder) scaleRef() object {
	ref := func(suffix string) object { return object{"$ref": componentPrefix + scaleName + suffix} }
	if b.done[scaleName] != nil {
		return ref("")
	}
	number := func(description string) object {
		return object{"type": "integer", "format": "int32", "description": description, "default": 0}
	}
	text := func(description string) object { return object{"type": "string", "description": description} }
	member := func(schema object, description string) object {
		return object{"allOf": []any{schema}, "default": object{}, "description": description}
	}
	b.done[scaleName] = object{
		"type":        "object",
		"description": "Scale is how many replicas of something are wanted, and how many there are.",
		"properties": object{
			"apiVersion": text("APIVersion is the version of this representation of the object: autoscaling/v1."),
			"kind":       text("Kind is what the object is: Scale."),
			"metadata":   member(b.metaRef("ObjectMeta"), "Standard metadata: that of the object that is scaled."),
			"spec":       member(ref("Spec"), "Spec is how many replicas are wanted."),
			"status":     member(ref("Status"), "Status is how many replicas there are. It is read-only."),
		},
		kindsKey: []any{scaleKind},
	}
	b.done[scaleName+"Spec"] = object{
		"type": "object", "description": "ScaleSpec is how many replicas are wanted.",
		"properties": object{"replicas": number("Replicas is the number that is wanted.")},
	}
	b.done[scaleName+"Status"] = object{
		"type": "object", "description": "ScaleStatus is how many replicas there are.",
		"properties": object{
			"replicas": number("Replicas is the number that there is."),
			"selector": text("Selector is what selects the replicas, as the labelSelector of a list is written."),
		},
		"required": []any{"replicas"},
	}
	return ref("")
}
