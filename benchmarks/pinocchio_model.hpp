// A Pinocchio model from arrays, for the programs beside this file.
#pragma once
#include <string>

#include <pinocchio/multibody.hpp>

// pose: 12 numbers a joint (rotation row by row, then the origin); inertia: mass, mass centre, tensor about it
// (xx, xy, yy, xz, yz, zz). parent -1 is the base.
inline pinocchio::Model model_of(
  int n, const int * parent, const int * revolute, const double * pose, const double * inertia,
  const double * armature, const double * gravity)
{
  namespace pin = pinocchio;
  pin::Model model;
  for (int i = 0; i < n; ++i)
  {
    const double *T = pose + 12 * i, *I = inertia + 10 * i;
    const pin::SE3 place(
      Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(T), Eigen::Map<const Eigen::Vector3d>(T + 9));
    const pin::Inertia body(
      I[0], Eigen::Map<const Eigen::Vector3d>(I + 1), pin::Symmetric3(I[4], I[5], I[6], I[7], I[8], I[9]));
    const auto under = static_cast<pin::JointIndex>(parent[i] + 1);
    const std::string name = "j" + std::to_string(i);
    const pin::JointIndex joint = revolute[i] ? model.addJoint(under, pin::JointModelRZ(), place, name)
                                              : model.addJoint(under, pin::JointModelPZ(), place, name);
    model.appendBodyToJoint(joint, body, pin::SE3::Identity());
  }
  model.armature = Eigen::Map<const Eigen::VectorXd>(armature, n);
  model.gravity.linear() = Eigen::Map<const Eigen::Vector3d>(gravity);
  return model;
}
