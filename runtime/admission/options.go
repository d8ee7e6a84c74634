package admission

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// WriteOptions returns the Options of a creation or of an update, of what a client sent: those of a patch are those of
// an update.
func (o Operation) WriteOptions(sent *metav1.PatchOptions) runtime.Object {
	if o == Create {
		options := &metav1.CreateOptions{
			DryRun: sent.DryRun, FieldManager: sent.FieldManager, FieldValidation: sent.FieldValidation,
		}
		options.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("CreateOptions"))
		return options
	}
	options := &metav1.UpdateOptions{
		DryRun: sent.DryRun, FieldManager: sent.FieldManager, FieldValidation: sent.FieldValidation,
	}
	options.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("UpdateOptions"))
	return options
}
