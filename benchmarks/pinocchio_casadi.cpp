// Operations of Pinocchio's routines as CasADi graphs after common subexpressions are shared.
#include <casadi/casadi.hpp>
#include <pinocchio/autodiff/casadi.hpp>

#include "pinocchio_model.hpp"
#include <pinocchio/algorithm/aba.hpp>
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

// tau = rnea(q, qd, qdd) or qdd = aba(q, qd, tau), common subexpressions shared.
static casadi::Function function_of(
  const std::string & routine, int n, const int * parent, const int * revolute, const double * pose,
  const double * inertia, const double * armature, const double * gravity)
{
  const auto model = model_of(n, parent, revolute, pose, inertia, armature, gravity).cast<Scalar>();
  pin::DataTpl<Scalar> data(model);
  const bool forward = routine != "rnea";
  const Scalar q = Scalar::sym("q", n), qd = Scalar::sym("qd", n), x = Scalar::sym(forward ? "tau" : "qdd", n);
  if (forward)
    pin::aba(
      model, data, entries(q), entries(qd), entries(x),
      routine == "aba" ? pin::Convention::WORLD : pin::Convention::LOCAL);
  else
    pin::rnea(model, data, entries(q), entries(qd), entries(x));
  Scalar y(n, 1);
  for (int i = 0; i < n; ++i)
    y(i) = forward ? data.ddq[i] : data.tau[i];
  const std::vector<Scalar> in{q, qd, x}, out{cse(y)};
  return casadi::Function(routine, in, out, {"q", "qd", forward ? "tau" : "qdd"}, {forward ? "qdd" : "tau"});
}

// Writes the function to a file that CasADi loads.
extern "C" void save_function(
  const char * routine, int n, const int * parent, const int * revolute, const double * pose, const double * inertia,
  const double * armature, const double * gravity, const char * path)
{
  function_of(routine, n, parent, revolute, pose, inertia, armature, gravity).save(path);
}

// Multiplications, additions, subtractions and divisions of rnea.
extern "C" int rnea_operations(
  int n, const int * parent, const int * revolute, const double * pose, const double * inertia,
  const double * armature, const double * gravity)
{
  const casadi::Function f = function_of("rnea", n, parent, revolute, pose, inertia, armature, gravity);
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
