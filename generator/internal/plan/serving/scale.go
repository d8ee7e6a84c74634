package serving

import (
	"fmt"

	"apigen.dev/generator/internal/model"
)

// Scale is the subresource scale: paths from the hub to its numbers and its selector. Status and Selector may be nil.
type Scale struct {
	Spec, Status, Selector []model.Step
	// SpecPath and StatusPath are the marker's paths of a custom resource, whose numbers are checked; "" otherwise.
	SpecPath, StatusPath string
	// Paths are those of the number of replicas in JSON.
	Paths []ScalePath
}

// ScalePath is the path of the number of replicas in a version.
type ScalePath struct {
	Version  string
	Elements []string
}

func (s *Serving) scale(r *model.Resource, sub *model.Subresource) {
	out := &Scale{}
	var marker *model.Scale
	var from *model.Type
	for _, v := range r.Served() {
		marked := sub.Scales[v.Version]
		if marked == nil {
			s.Faults.Add(v.Type.Pos, "kind %s has the subresource scale in another version, and none in %s: mark all "+
				"served versions with +kubebuilder:subresource:scale", r.Kind, v.Version.Name)
			return
		}
		if marker == nil || v.Type == r.Hub {
			marker, from = marked, v.Type
		}
		path := ScalePath{Version: v.Version.Name}
		for _, step := range marked.SpecSteps {
			switch {
			case step.Field == nil:
				path.Elements = append(path.Elements, step.Key)
			case !step.Field.Inline:
				path.Elements = append(path.Elements, step.Field.JSON)
			}
		}
		out.Paths = append(out.Paths, path)
	}
	if marker == nil {
		return
	}
	before := len(s.Faults)
	path := func(steps []model.Step, check func(*model.Type) error) []model.Step {
		steps, err := onHub(r.Hub, from, steps)
		var end *model.Type
		if err == nil {
			end, err = pathEnd(r.Hub, steps)
		}
		if err == nil {
			err = check(end)
		}
		if err != nil {
			s.Faults.Add(marker.Pos, "marker \"+kubebuilder:subresource:scale\": %s", err)
		}
		return steps
	}
	out.Spec = path(marker.SpecSteps, checkReplicas)
	if marker.StatusSteps != nil {
		out.Status = path(marker.StatusSteps, checkReplicas)
	}
	if marker.SelectorSteps != nil {
		out.Selector = path(marker.SelectorSteps, checkSelector)
	}
	if r.Hub.Custom() {
		out.SpecPath, out.StatusPath = marker.SpecPath, marker.StatusPath
	}
	if len(s.Faults) == before {
		s.Scale = out
	}
}

func checkReplicas(t *model.Type) error {
	if !model.IsInteger(t) {
		return fmt.Errorf("%s is no number of replicas", model.TypeText(t))
	}
	return nil
}

func checkSelector(t *model.Type) error {
	if !model.IsSelector(t) {
		return fmt.Errorf("%s is neither a string nor a LabelSelector nor a map of labels", model.TypeText(t))
	}
	return nil
}
