// Operations of Pinocchio's routines as CasADi graphs after common subexpressions are shared.
#include <casadi/casadi.hpp>
#include <pinocchio/autodiff/casadi.hpp>

#include "pinocchio_model.hpp"
#include <pinocchio/algorithm/rnea.hpp>

namespace pin = pinocchio;
using Scalar = casadi::SX;
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

static Vector entries(const Scalar & column)
{
  Vector v(column.size1());
  for (casadi_int i = 0; i < column.size1(); ++i)
    v[i] = column(i);
  return v;
}

// Multiplications, additions, subtractions and divisions of rnea.
extern "C" int rnea_operations(
  int n, const int * parent, const int * revolute, const double * pose, const double * inertia,
  const double * armature, const double * gravity)
{
  const auto model = model_of(n, parent, revolute, pose, inertia, armature, gravity).cast<Scalar>();
  pin::DataTpl<Scalar> data(model);
  const Scalar q = Scalar::sym("q", n), qd = Scalar::sym("qd", n), qdd = Scalar::sym("qdd", n);
  pin::rnea(model, data, entries(q), entries(qd), entries(qdd));
  Scalar tau(n, 1);
  for (int i = 0; i < n; ++i)
    tau(i) = data.tau[i];
  const std::vector<Scalar> in{q, qd, qdd}, out{cse(tau)};
  const casadi::Function f("rnea", in, out);
  int found = 0;
  for (casadi_int k = 0; k < f.n_instructions(); ++k)
    switch (f.instruction_id(k))
    {
    case casadi::OP_ADD:
    case casadi::OP_SUB:
    case casadi::OP_MUL:
    case casadi::OP_DIV:
    case casadi::OP_SQ:
    case casadi::OP_TWICE:
      ++found;
    }
  return found;
}
