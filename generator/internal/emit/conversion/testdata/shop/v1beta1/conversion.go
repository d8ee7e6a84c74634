package v1beta1

import (
	"fmt"

	"k8s.io/apimachinery/pkg/conversion"

	"apigen.dev/generator/internal/emit/conversion/testdata/shop"
)

func Convert_v1beta1_BookStatus_To_shop_BookStatus(in *BookStatus, out *shop.BookStatus, s conversion.Scope) error {
	if err := autoConvert_v1beta1_BookStatus_To_shop_BookStatus(in, out, s); err != nil {
		return err
	}
	_, err := fmt.Sscanf(in.Sales, "%d/%d", &out.Sold, &out.Returned)
	return err
}

func Convert_shop_BookStatus_To_v1beta1_BookStatus(in *shop.BookStatus, out *BookStatus, s conversion.Scope) error {
	out.Sales = fmt.Sprintf("%d/%d", in.Sold, in.Returned)
	return autoConvert_shop_BookStatus_To_v1beta1_BookStatus(in, out, s)
}
