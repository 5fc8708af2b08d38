"""Tensors of other processes and reshards in Python; the token exchange where there is no GPU."""

import multiprocessing
import unittest

import numpy as np

import coll


def double(handle):
    """Of another process: doubles one row."""
    tensor = coll.RemoteTensor(handle)
    row = tensor.read(1)
    tensor.write(2 * row, 1)


class RemoteTest(unittest.TestCase):
    def test_another_process_reads_and_writes(self):
        owner = coll.TensorOwner()
        array = owner.allocate((3, 4))
        array[:] = np.arange(12).reshape(3, 4)
        other = multiprocessing.get_context("spawn").Process(target=double, args=(owner.publish(array),))
        other.start()
        other.join()
        self.assertEqual(other.exitcode, 0)
        np.testing.assert_array_equal(array, [[0, 1, 2, 3], [8, 10, 12, 14], [8, 9, 10, 11]])

    def test_parts_are_those_of_numpy(self):
        owner = coll.TensorOwner()
        array = owner.allocate((2, 3, 4), "int32")
        array[:] = np.arange(24).reshape(2, 3, 4)
        tensor = coll.RemoteTensor(owner.publish(array))
        self.assertEqual((tensor.shape, tensor.dtype), ((2, 3, 4), np.int32))
        for index in (..., 1, -1, (0, slice(1, 3)), (..., slice(0, 2)), (slice(None), 2, slice(1, 1)), (1, 2, 3)):
            np.testing.assert_array_equal(tensor.read(index), array[index])
        for wrong in (2, (0, 0, 0, 0), slice(0, 2, 2)):
            with self.assertRaises(IndexError):
                tensor.read(wrong)
        with self.assertRaisesRegex(ValueError, "the part has shape"):
            tensor.write(np.zeros(3), 0)

    def test_over_tcp_any_array_is_published(self):
        options = {"transport": "tcp", "secret": "a secret of the job"}
        array = np.arange(6, dtype=np.float64).reshape(2, 3)
        handle = (owner := coll.TensorOwner(**options)).publish(array)
        np.testing.assert_array_equal(coll.RemoteTensor(handle, **options).read(1), array[1])
        owner.withdraw(handle)
        with self.assertRaises(coll.Error):
            coll.RemoteTensor(handle, **options).read()

    def test_without_a_transport_memory_is_the_owners(self):
        with self.assertRaisesRegex(coll.Error, "allocate"):
            coll.TensorOwner().publish(np.zeros(3))


class ReshardTest(unittest.TestCase):
    def test_blocks_move_by_the_fewest_bytes(self):
        whole = np.arange(48, dtype=np.float32).reshape(8, 6)
        plan = coll.plan_reshard(whole.shape, whole.dtype, ({"dp": 4}, "[dp, -]"), ({"tp": 2}, "[-, tp]"))
        left, right = plan.run(np.split(whole, 4))
        np.testing.assert_array_equal(np.concatenate([left, right], 1), whole)
        self.assertEqual((plan.bytes, plan.least_bytes), (144, 144))
        with self.assertRaisesRegex(coll.Error, "a block is"):
            plan.run(np.split(whole, 2) * 2)
        with self.assertRaisesRegex(coll.Error, "an axis of the mesh"):
            coll.plan_reshard((4,), "float32", ("dp=2", "[tp]"), ("dp=2", "[-]"))


class MoeTest(unittest.TestCase):
    def test_what_is_missing_is_named(self):
        with self.assertRaisesRegex(coll.Error, "CUDA|GPU|libcoll-moe.so"):
            coll.MoeBuffer(0, 2, nvl_bytes=1 << 20)


if __name__ == "__main__":
    unittest.main()
