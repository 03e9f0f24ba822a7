package audit

// ReceiptName is the name under which receipts of a log are signed.
func ReceiptName(origin string) string { return origin + "/receipt" }
