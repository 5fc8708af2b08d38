"""What the token exchange raises."""

try:
    from .._coll import Error as _Base
except ImportError:  # this folder alone, beside libcoll-moe.so
    _Base = RuntimeError


class Error(_Base):
    """An operation that the token exchange refused or could not do; `code` is a number of runtime/base/codes.h."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code
